// The main function of test programs that need no other.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include "emission_first/both.hpp"
#include "emission_first/only_first.hpp"
#include "tests/codegen/emission/call_all_ones.hpp"
#include "tests/codegen/emission/two_libraries.hpp"

answers call_first() { return {call_all_ones<sample::both, 2, 16>(), call_all_ones<sample::nested::only_first, 2, 32>()}; }

#include "emission_second/both.hpp"
#include "emission_second/only_second.hpp"
#include "tests/codegen/emission/call_all_ones.hpp"
#include "tests/codegen/emission/two_libraries.hpp"

answers call_second() { return {call_all_ones<sample::both, 2, 16>(), call_all_ones<sample::only_second, 4, 16>()}; }

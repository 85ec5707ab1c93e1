// A function of the standard library computes with numbers, not with symbols.
// expect: and calls only exp, tanh, abs, min, max, without std::
#include "dsl/spec.hpp"
#include <algorithm>
#include <cmath>
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | scores([](auto s, auto at) { return max(s, s * at.key); })
#else
    | scores([](auto s, auto at) { return std::max(s, s * at.key); })
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

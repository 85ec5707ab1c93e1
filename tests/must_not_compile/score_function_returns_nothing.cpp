// A score function without a return.
// expect: a score function returns a score: a number, not a condition, not nothing
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | scores([](auto s, auto) { return s * 2; })
#else
    | scores([](auto s, auto) { s * 2; })
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

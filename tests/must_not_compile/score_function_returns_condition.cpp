// A condition in place of a score.
// expect: a score function returns a score: a number, not a condition, not nothing
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | scores([](auto s, auto at) { return select(at.key < at.query, s, 0.5 * s); })
#else
    | scores([](auto, auto at) { return at.key < at.query; })
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

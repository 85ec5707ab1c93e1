// A branch on a value that exists only when the kernel runs.
// expect: a function takes auto, branches with select\(condition, a, b\), not with \?: or if
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask([](auto at) { return at.key < 4; })
#else
    | mask([](auto at) { if (at.key < 4) return true; return false; })
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

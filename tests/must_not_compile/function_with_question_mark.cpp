// A branch on a value that exists only when the kernel runs.
// expect: a function takes auto, branches with select\(condition, a, b\), not with \?: or if
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | scores([](auto s, auto at) { return select(at.query == at.key, s * 0.5, s); })
#else
    | scores([](auto s, auto at) { return at.query == at.key ? s * 0.5 : s; })
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

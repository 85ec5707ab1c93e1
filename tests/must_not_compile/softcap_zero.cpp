// Scores capped to nothing.
// expect: a softcap is a positive int .up to 2147483647., a ratio such as softcap<61, 2>, or runtime
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | scores(softcap<50>)
#else
    | scores(softcap<0>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

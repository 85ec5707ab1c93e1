// Scores capped to nothing.
// expect: a factor is a positive whole number, a ratio such as scale<1, 8>, or runtime
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

// Scores are masked after they are scaled.
// expect: stages out of order; the order is operands or project
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | scores(softcap<50>) | mask(key_lengths)
#else
    | mask(key_lengths) | scores(softcap<50>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

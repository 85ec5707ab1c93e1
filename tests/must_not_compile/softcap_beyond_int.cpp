// Positive, but beyond what an int holds.
// expect: a softcap is a positive int .up to 2147483647.
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | scores(softcap<2147483647>)
#else
    | scores(softcap<3000000000>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

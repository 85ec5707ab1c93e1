// A mask tensor of no axes.
// expect: a tensor names each of its axes once
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(additive<axis::key>)
#else
    | mask(additive<>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

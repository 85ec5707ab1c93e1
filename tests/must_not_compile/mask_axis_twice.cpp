// A mask tensor with one axis twice.
// expect: a tensor names each of its axes once
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(boolean<axis::query, axis::key>)
#else
    | mask(boolean<axis::key, axis::key>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

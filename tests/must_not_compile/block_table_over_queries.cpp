// A block table has its blocks as its last axes; batch and head may stand before them.
// expect: a tensor names each of its axes once
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(block_sparse<64, 64, axis::head>)
#else
    | mask(block_sparse<64, 64, axis::query>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

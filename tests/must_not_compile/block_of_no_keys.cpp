// A block has keys.
// expect: heads and extents are at least 1
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(block_sparse<64, 64>)
#else
    | mask(block_sparse<64, 0>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

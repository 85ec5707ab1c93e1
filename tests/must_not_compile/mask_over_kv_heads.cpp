// A mask belongs to scores, which have no kv_head axis.
// expect: the axes of a mask are batch, head, query and key
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(additive<axis::head, axis::key>)
#else
    | mask(additive<axis::kv_head, axis::key>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

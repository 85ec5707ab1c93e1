// Groups of query heads must be whole.
// expect: kv_heads must divide heads: query head h reads kv head h / \(heads / kv_heads\)
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, kv_heads<4>, head_dim<64>, element<f32>)
#else
      operands(heads<12>, kv_heads<5>, head_dim<64>, element<f32>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// Whole numbers without what one of them is worth.
// expect: kv_element<int8> needs a kv_scale
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>, kv_element<int8>, kv_scale<per_head>)
#else
      operands(heads<12>, head_dim<64>, element<f32>, kv_element<int8>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

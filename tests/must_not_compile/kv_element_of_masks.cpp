// A cache of i32.
// expect: kv_element is f32, f16, bf16, int8, e4m3 or e5m2
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>, kv_element<bf16>)
#else
      operands(heads<12>, head_dim<64>, element<f32>, kv_element<i32>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

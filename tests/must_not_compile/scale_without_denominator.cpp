// A ratio with denominator 0.
// expect: a scale is a positive int .up to 2147483647., a ratio such as scale<1, 8>, runtime or rsqrt_head_dim
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | scores(scale<1, 8>)
#else
    | scores(scale<1, 0>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

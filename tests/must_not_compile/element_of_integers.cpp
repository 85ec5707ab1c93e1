// Operands of whole numbers.
// expect: the element is f32, f16 or bf16
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>)
#else
      operands(heads<12>, head_dim<64>, element<i32>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

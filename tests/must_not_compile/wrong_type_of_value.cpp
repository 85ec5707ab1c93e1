// An element in place of a number.
// expect: heads<f32>
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>)
#else
      operands(heads<f32>, head_dim<64>, element<f32>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

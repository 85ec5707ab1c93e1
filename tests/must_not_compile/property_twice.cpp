// One property twice, with two values.
// expect: a stage has one property twice: keep one of them
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>)
#else
      operands(heads<12>, head_dim<64>, element<f32>, heads<16>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// theta is part of the kernel.
// expect: a factor is a positive whole number
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>) | rope(theta<500000>)
#else
      operands(heads<12>, head_dim<64>, element<f32>) | rope(theta<runtime>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// theta is part of the kernel.
// expect: the base of the wavelengths is a positive int .up to 2147483647. or a ratio of two, as in theta<10000>; no call decides it
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

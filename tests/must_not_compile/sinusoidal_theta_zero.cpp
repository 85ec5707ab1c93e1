// The base of the wavelengths is positive.
// expect: the base of the wavelengths is a positive int
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      project(model_dim<512>, heads<8>, head_dim<64>, element<f32>, sinusoidal_positions<10000>)
#else
      project(model_dim<512>, heads<8>, head_dim<64>, element<f32>, sinusoidal_positions<0>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

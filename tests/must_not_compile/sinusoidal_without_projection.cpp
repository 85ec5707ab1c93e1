// Positions are added to hidden states.
// expect: this stage does not take this property
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      project(model_dim<512>, heads<8>, head_dim<64>, element<f32>, sinusoidal_positions<10000>)
#else
      operands(heads<8>, head_dim<64>, element<f32>, sinusoidal_positions<10000>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// Sines and cosines stand in turn.
// expect: sinusoidal_positions fills features two by two
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      project(model_dim<34>, heads<3>, head_dim<11>, element<f32>, sinusoidal_positions<10000>)
#else
      project(model_dim<33>, heads<3>, head_dim<11>, element<f32>, sinusoidal_positions<10000>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

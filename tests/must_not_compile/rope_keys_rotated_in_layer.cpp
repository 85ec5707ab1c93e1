// Keys that are projected here cannot come rotated.
// expect: keys_rotated needs keys that the call brings
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      project(model_dim<768>, heads<12>, head_dim<64>, element<f32>) | rope()
#else
      project(model_dim<768>, heads<12>, head_dim<64>, element<f32>) | rope(keys_rotated)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

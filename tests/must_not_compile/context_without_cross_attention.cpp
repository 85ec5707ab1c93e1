// A context in self-attention.
// expect: this property means something only beside another one
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      project(cross_attention, context_dim<512>, model_dim<768>, heads<12>, head_dim<64>, element<f32>)
#else
      project(context_dim<512>, model_dim<768>, heads<12>, head_dim<64>, element<f32>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

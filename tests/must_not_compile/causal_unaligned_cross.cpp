// Cross-attention has two extents, so causal must say how they align.
// expect: causal must say how they align
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      project(cross_attention, model_dim<512>, heads<8>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(causal<align::top_left>)
#else
    | mask(causal<>)
#endif
    | softmax() | weighted_sum() | project_out();
};
int main() { return broken::spec.heads; }

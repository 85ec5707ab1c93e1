// Operands and projections in one spec.
// expect: stands once, at the start of a spec
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      project(model_dim<768>, heads<12>, head_dim<64>, element<f32>)
#else
      project(model_dim<768>, heads<12>, head_dim<64>, element<f32>) | operands(heads<12>, head_dim<64>, element<f32>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

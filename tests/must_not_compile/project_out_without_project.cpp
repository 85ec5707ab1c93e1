// Nothing was projected, so there is no model dimension to go back to.
// expect: project_out\(...\) needs a spec that starts with project\(...\)
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      project(model_dim<768>, heads<12>, head_dim<64>, element<f32>)
#else
      operands(heads<12>, head_dim<64>, element<f32>)
#endif
    | softmax() | weighted_sum() | project_out(model_dim<768>);
};
int main() { return broken::spec.heads; }

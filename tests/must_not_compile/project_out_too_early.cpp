// An output projection before the weighted sum.
// expect: project_out\(...\) comes directly after weighted_sum\(...\)
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      project(model_dim<768>, heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | softmax() | weighted_sum() | project_out()
#else
    | softmax() | project_out()
#endif
  ;
};
int main() { return broken::spec.heads; }

// One property twice, in a short form.
// expect: a stage has one property twice
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      layer(model_dim<768>, heads<12>, head_dim<64>, element<f32>, bias)
#else
      layer(model_dim<768>, heads<12>, head_dim<64>, element<f32>, bias, bias)
#endif
  ;
};
int main() { return broken::spec.heads; }

// A property of projections in attention(...), which has none.
// expect: this one has no place here
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      layer(model_dim<768>, heads<12>, head_dim<64>, element<f32>)
#else
      attention(model_dim<768>, heads<12>, head_dim<64>, element<f32>)
#endif
  ;
};
int main() { return broken::spec.heads; }

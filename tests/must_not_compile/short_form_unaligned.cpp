// Short forms are checked like chains.
// expect: causal must say how they align
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      attention(heads<12>, head_dim<64>, element<f32>, self_attention, causal<>)
#else
      attention(heads<12>, head_dim<64>, element<f32>, causal<>)
#endif
  ;
};
int main() { return broken::spec.heads; }

// The name of a template alone.
// expect: causal
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(causal<align::top_left>)
#else
    | mask(causal)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

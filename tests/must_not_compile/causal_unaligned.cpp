// Query and key extents can differ, so causal must say how they align.
// expect: causal must say how they align: causal<align::bottom_right> or
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(causal<align::bottom_right>)
#else
    | mask(causal<>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

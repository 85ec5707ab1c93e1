// A window counts keys: it cannot be negative.
// expect: a window counts the keys before the query's own
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(causal<align::bottom_right>, sliding_window<0>)
#else
    | mask(causal<align::bottom_right>, sliding_window<-1>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// A window of more keys than an int counts.
// expect: a window counts the keys before the query's own.* each an int, 0 to 2147483647, or runtime
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(causal<align::bottom_right>, sliding_window<2147483647>)
#else
    | mask(causal<align::bottom_right>, sliding_window<3000000000>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

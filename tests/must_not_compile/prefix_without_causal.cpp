// A prefix loosens causal: without causal it says nothing.
// expect: this property means something only beside another one
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(causal<align::bottom_right>, prefix_lengths)
#else
    | mask(prefix_lengths)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

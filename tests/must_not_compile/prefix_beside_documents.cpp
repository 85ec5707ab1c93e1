// A prefix belongs to a batch, documents divide it.
// expect: these two properties exclude each other
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(causal<align::bottom_right>, documents<ids>)
#else
    | mask(causal<align::bottom_right>, prefix_lengths, documents<ids>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

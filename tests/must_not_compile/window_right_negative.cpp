// The right side of a window counts keys too.
// expect: a window counts the keys before the query's own
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(sliding_window<8, 0>)
#else
    | mask(sliding_window<8, -1>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// A window has a left side and a right side.
// expect: a window counts the keys before the query's own
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(sliding_window<8, 8>)
#else
    | mask(sliding_window<8, 8, 8>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

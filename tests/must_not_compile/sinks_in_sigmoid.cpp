// A sink counts in a denominator, and sigmoid has none.
// expect: this stage does not take this property: move it to the stage that does
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | softmax(sinks)
#else
    | sigmoid(sinks)
#endif
    | weighted_sum();
};
int main() { return broken::spec.heads; }

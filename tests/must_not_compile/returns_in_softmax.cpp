// A further output belongs to weighted_sum.
// expect: this stage does not take this property: move it to the stage that does
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | softmax() | weighted_sum(returns<weights>)
#else
    | softmax(returns<weights>) | weighted_sum()
#endif
  ;
};
int main() { return broken::spec.heads; }

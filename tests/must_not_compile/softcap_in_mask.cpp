// A property in a stage that does not take it.
// expect: this stage does not take this property: move it to the stage that does
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | scores(softcap<50>)
#else
    | mask(softcap<50>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// The name of a stage alone.
// expect: a spec joins stages, each called with its properties, as in softmax\(\)
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | softmax() | weighted_sum()
#else
    | softmax | weighted_sum()
#endif
  ;
};
int main() { return broken::spec.heads; }

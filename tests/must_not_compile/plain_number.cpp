// A number instead of a property.
// expect: a stage is made of properties, such as heads<12>
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>)
#else
      operands(heads<12>, 64, element<f32>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// No more features turn than a head has.
// expect: features turn in pairs within a head
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>) | rope(dims<64>)
#else
      operands(heads<12>, head_dim<64>, element<f32>) | rope(dims<66>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// Features turn in pairs.
// expect: dims counts the features that turn in pairs
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>) | rope(dims<32>)
#else
      operands(heads<12>, head_dim<64>, element<f32>) | rope(dims<33>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// Queries and keys turn before they meet.
// expect: stages out of order
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>) | rope() | scores()
#else
      operands(heads<12>, head_dim<64>, element<f32>) | scores() | rope()
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

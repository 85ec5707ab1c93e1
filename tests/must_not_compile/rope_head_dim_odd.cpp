// All features of a head turn, unless dims says how many.
// expect: features turn in pairs within a head
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<3>, head_dim<33>, element<f32>) | rope(dims<32>)
#else
      operands(heads<3>, head_dim<33>, element<f32>) | rope()
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

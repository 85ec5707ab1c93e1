// Two softmax stages.
// expect: two stages of one kind: keep one of them
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | softmax()
#else
    | softmax() | softmax()
#endif
    | weighted_sum();
};
int main() { return broken::spec.heads; }

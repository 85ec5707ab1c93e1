// Operands after scores.
// expect: a spec starts with operands\(...\) or project\(...\)
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>) | scores()
#else
      scores() | operands(heads<12>, head_dim<64>, element<f32>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// Slopes are the paper's, or the call brings them.
// expect: alibi<> has the slopes of the paper
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | scores(alibi<slopes>)
#else
    | scores(alibi<8>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

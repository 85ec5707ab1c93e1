// A weighted sum without weights.
// expect: weighted_sum\(\) needs weights: put softmax\(\) or sigmoid\(\.\.\.\) before it
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | scores() | softmax()
#else
    | scores()
#endif
    | weighted_sum();
};
int main() { return broken::spec.heads; }

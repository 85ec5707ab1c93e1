// Log-sum-exp belongs to softmax.
// expect: sigmoid weights are not normalised, so there is no log-sum-exp: leave returns<lse> out
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
    | sigmoid(sigmoid_bias<-3>)
#ifdef CORRECTED
    | weighted_sum(returns<weights>);
#else
    | weighted_sum(returns<weights, lse>);
#endif
};
int main() { return broken::spec.heads; }

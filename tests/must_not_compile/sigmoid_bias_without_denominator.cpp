// A ratio needs a positive denominator.
// expect: a sigmoid.s bias is a whole number, a ratio such as sigmoid_bias<-7, 2>, or runtime; its numbers are ints
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | sigmoid(sigmoid_bias<-7, 2>)
#else
    | sigmoid(sigmoid_bias<-7, 0>)
#endif
    | weighted_sum();
};
int main() { return broken::spec.heads; }

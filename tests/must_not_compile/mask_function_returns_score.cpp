// A distance in place of a condition.
// expect: a mask function returns a condition, such as at.key <= at.query
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask([](auto at) { return at.query - at.key >= 0; })
#else
    | mask([](auto at) { return at.query - at.key; })
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// C++ reads 0 <= x < 100 as (0 <= x) < 100, which always holds.
// expect: join two by &&, as in 0 <= x && x < 8
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask([](auto at) { return 0 <= at.query - at.key && at.query - at.key < 100; })
#else
    | mask([](auto at) { return 0 <= at.query - at.key < 100; })
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

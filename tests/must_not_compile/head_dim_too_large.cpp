// A head with more features than schedules are tested for.
// expect: head_dim and value_dim are 1 to 576
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, kv_heads<1>, head_dim<576>, value_dim<512>, element<f32>)
#else
      operands(heads<12>, kv_heads<1>, head_dim<577>, value_dim<512>, element<f32>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

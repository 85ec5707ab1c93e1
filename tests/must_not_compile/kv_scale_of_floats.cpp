// A scale of elements that need none.
// expect: e4m3 and e5m2 may have one, others none
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f16>, kv_element<e4m3>, kv_scale<per_token>)
#else
      operands(heads<12>, head_dim<64>, element<f16>, kv_scale<per_token>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

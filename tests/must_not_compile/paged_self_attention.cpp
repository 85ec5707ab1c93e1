// As many keys as queries, and as many as a length says.
// expect: these two properties exclude each other
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>, paged<16>)
#else
      operands(heads<12>, head_dim<64>, element<f32>, paged<16>, self_attention)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

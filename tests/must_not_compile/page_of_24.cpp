// A page of 24 keys.
// expect: a page holds a power of two of keys
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>, paged<32>)
#else
      operands(heads<12>, head_dim<64>, element<f32>, paged<24>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// The same mask twice.
// expect: a stage has one property twice
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(key_lengths)
#else
    | mask(key_lengths, key_lengths)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// Two boolean masks.
// expect: a stage has one property twice
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask(boolean<axis::query, axis::key>)
#else
    | mask(boolean<axis::key>, boolean<axis::query, axis::key>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

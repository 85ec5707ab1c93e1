// Two directions share the buckets.
// expect: relative_bias<buckets, max_distance, direction>
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | scores(relative_bias<32, 128, bidirectional>)
#else
    | scores(relative_bias<31, 128, bidirectional>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

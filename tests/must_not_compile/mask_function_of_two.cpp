// A mask function that asks for the score.
// expect: mask\(f\): f takes \(auto at\) and returns a condition.*at has batch, head, kv_head, query, key, position, query_count, key_count and at\(tag
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | mask([](auto at) { return at.key < at.query; })
#else
    | mask([](auto s, auto at) { return at.key < at.query && s > 0; })
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

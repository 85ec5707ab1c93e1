// A score function that does not take the score.
// expect: scores\(f\): f takes \(auto score, auto at\) and returns a score.*at has batch, head, kv_head, query, key, position, query_count, key_count and at\(tag
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
#ifdef CORRECTED
    | scores([](auto s, auto) { return 2 * s; })
#else
    | scores([](auto s) { return 2 * s; })
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// An input of one axis, read with two indices.
// expect: at\(tag\{\}, indices...\) takes one index for each axis of the input
#include "dsl/spec.hpp"
using namespace attune;

struct slope {};
struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>, input<slope>(f32, axis::head))
#ifdef CORRECTED
    | scores([](auto s, auto at) { return s - at(slope{}, at.head); })
#else
    | scores([](auto s, auto at) { return s - at(slope{}, at.head, at.key); })
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

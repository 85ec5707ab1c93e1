// Two inputs that would have one name in the call.
// expect: an input goes by the last part of its tag's name
#include "dsl/spec.hpp"
using namespace attune;

struct slope {};
namespace other {
struct slope {};
struct ramp {};
} // namespace other
struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>, input<slope>(f32, axis::head), input<other::ramp>(f32, axis::key))
#else
      operands(heads<12>, head_dim<64>, element<f32>, input<slope>(f32, axis::head), input<other::slope>(f32, axis::key))
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

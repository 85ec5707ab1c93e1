// An input by the name of a number that a call may have.
// expect: an input goes by the last part of its tag's name
#include "dsl/spec.hpp"
using namespace attune;

struct slope {};
namespace my_app {
struct window {};
} // namespace my_app
struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>, input<slope>(f32, axis::head))
#else
      operands(heads<12>, head_dim<64>, element<f32>, input<my_app::window>(f32, axis::head))
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

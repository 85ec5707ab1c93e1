// An input by the name of a tensor that a property brings.
// expect: an input goes by the last part of its tag's name
#include "dsl/spec.hpp"
using namespace attune;

struct document {};
namespace my_app {
struct documents {};
} // namespace my_app
struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>, input<document>(i32, axis::batch, axis::key))
#else
      operands(heads<12>, head_dim<64>, element<f32>, input<my_app::documents>(i32, axis::batch, axis::key))
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// An input that does not say how it is stored.
// expect: an input is declared as input<tag>\(element, axes...\)
#include "dsl/spec.hpp"
using namespace attune;

struct slope {};
struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>, input<slope>(f32, axis::head))
#else
      operands(heads<12>, head_dim<64>, element<f32>, input<slope>(axis::head))
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

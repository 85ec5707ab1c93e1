// An input by the name of a tensor that every call has.
// expect: an input goes by the last part of its tag's name
#include "dsl/spec.hpp"
using namespace attune;

struct output {};
struct offset {};
struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>, input<offset>(f32, axis::head))
#else
      operands(heads<12>, head_dim<64>, element<f32>, input<output>(f32, axis::head))
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

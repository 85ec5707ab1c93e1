// A function reads a tensor that the call does not bring.
// expect: a function reads an input that the spec does not declare: add input<tag>
#include "dsl/spec.hpp"
using namespace attune;

struct slope {};
struct offset {};
struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>, input<slope>(f32, axis::head))
#ifdef CORRECTED
    | scores([](auto s, auto at) { return s - at(slope{}, at.head); })
#else
    | scores([](auto s, auto at) { return s - at(offset{}, at.head); })
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// A property that operands needs is missing.
// expect: this stage lacks a property that it needs: add it
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>)
#else
      operands(head_dim<64>, element<f32>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

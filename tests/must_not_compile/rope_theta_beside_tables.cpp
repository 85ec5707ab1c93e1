// Tables say what theta would.
// expect: these two properties exclude each other
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>) | rope(angle_tables)
#else
      operands(heads<12>, head_dim<64>, element<f32>) | rope(angle_tables, theta<10000>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

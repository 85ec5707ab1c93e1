// A chain that ends with weights.
// expect: a spec ends with weighted_sum\(...\), or with project_out\(...\) after that
#include "dsl/reference/refer.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
    | softmax()
#ifdef CORRECTED
    | weighted_sum()
#endif
  ;
};
int main() { return refer<broken>().n.heads; }

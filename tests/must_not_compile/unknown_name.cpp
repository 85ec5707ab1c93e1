// A property by a name that the language does not have.
// expect: head_size
#include "dsl/reference/refer.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>)
#else
      operands(heads<12>, head_size<64>, element<f32>)
#endif
    | softmax() | weighted_sum();
};
int main() { return attune::refer<broken>().n.heads; }

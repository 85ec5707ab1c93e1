// A struct that is no spec.
// expect: a spec struct has `static constexpr auto spec = operands\(...\) \| ... \| weighted_sum\(...\);`
#include "dsl/reference/refer.hpp"
using namespace attune;

struct broken {
#ifdef CORRECTED
  static constexpr auto spec = attention(heads<12>, head_dim<64>, element<f32>);
#else
  static constexpr auto operation = attention(heads<12>, head_dim<64>, element<f32>);
#endif
};
int main() { return refer<broken>().n.heads; }

// A struct that is no spec.
// expect: spec
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

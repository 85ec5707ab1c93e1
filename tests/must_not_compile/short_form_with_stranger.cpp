// Something that is no property, in a short form.
// expect: a short form is made of properties, such as heads<12>
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      attention(heads<12>, head_dim<64>, element<f32>, scale<1, 2>)
#else
      attention(heads<12>, head_dim<64>, element<f32>, 0.5)
#endif
  ;
};
int main() { return broken::spec.heads; }

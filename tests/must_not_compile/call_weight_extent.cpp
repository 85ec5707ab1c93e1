// A weight matrix of a head_dim that is not the spec's.
// expect: an extent of this view is not the one that the spec says
#include "emitted_layer.hpp"
#include "runtime/kernel.hpp"
using namespace attune::axes;

int main() {
  attune::projection_weights<layer> weights;
#ifdef CORRECTED
  weights.query = attune::view<const float, head<12>, head_dim<32>, model_dim<384>>();
#else
  weights.query = attune::view<const float, head<12>, head_dim<64>, model_dim<384>>();
#endif
}

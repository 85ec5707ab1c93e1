// Weights that were packed for another spec.
// expect: these weights were packed for another spec: pack them for this one
#include "emitted_layer.hpp"
#include "runtime/kernel.hpp"
using namespace attune::axes;

struct other_layer;
attune::view<const attune::bf16_t, batch<>, query<>, model_dim<384>> hidden;
attune::view<attune::bf16_t, batch<>, query<>, model_dim<384>> out;
attune::packed_weights<layer> own;
attune::packed_weights<other_layer> others;

int main() {
#ifdef CORRECTED
  attune::kernel<layer>{}(hidden, own, out);
#else
  attune::kernel<layer>{}(hidden, others, out);
#endif
}

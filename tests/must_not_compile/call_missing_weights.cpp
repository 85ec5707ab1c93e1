// A layer without its weights.
// expect: missing<attune::artefact<layer>::argument::weights>
#include "emitted_layer.hpp"
#include "runtime/kernel.hpp"
using namespace attune::axes;

attune::view<const attune::bf16_t, batch<>, query<>, model_dim<384>> hidden;
attune::view<attune::bf16_t, batch<>, query<>, model_dim<384>> out;
attune::packed_weights<layer> packed;

int main() {
#ifdef CORRECTED
  attune::kernel<layer>{}(hidden, packed, out);
#else
  attune::kernel<layer>{}(hidden, out);
#endif
}

// A plain matrix in the place of packed weights.
// expect: this argument of the kernel must be packed_weights of its spec, made by pack_weights
#include "emitted_layer.hpp"
#include "runtime/kernel.hpp"
using namespace attune::axes;

attune::view<const attune::bf16_t, batch<>, query<>, model_dim<384>> hidden;
attune::view<attune::bf16_t, batch<>, query<>, model_dim<384>> out;
attune::packed_weights<layer> packed;
attune::view<const attune::bf16_t, head<12>, head_dim<32>, model_dim<384>> plain;

int main() {
#ifdef CORRECTED
  attune::kernel<layer>{}(hidden, packed, out);
#else
  attune::kernel<layer>{}(hidden, plain, out);
#endif
}

// The spec leaves its scale to the call, which gives none.
// expect: missing<attune::artefact<masked_attention>::argument::scale>
#include "emitted_masked.hpp"
#include "runtime/kernel.hpp"
using namespace attune::axes;

attune::view<const float, head<8>, query<>, head_dim<64>> q;
attune::view<const float, kv_head<2>, key<>, head_dim<64>> k;
attune::view<const float, kv_head<2>, key<>, value_dim<128>> v;
attune::view<float, head<8>, query<>, value_dim<128>> out;
attune::view<const bool, batch<>, key<>> allowed;

int main() {
#ifdef CORRECTED
  attune::kernel<masked_attention>{}(q, k, v, out, allowed, 0.125);
#else
  attune::kernel<masked_attention>{}(q, k, v, out, allowed);
#endif
}

// A call without value, mask and scale: all three are named, and nothing that is there.
// expect: missing<attune::artefact<masked_attention>::argument::value, attune::artefact<masked_attention>::argument::allowed, attune::artefact<masked_attention>::argument::scale>
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
  attune::kernel<masked_attention>{}(q, k, out);
#endif
}

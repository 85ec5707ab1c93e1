// A call that ends before the output.
// expect: missing<attune::artefact<gpt2>::argument::output>
#include "emitted_example.hpp"
#include "runtime/kernel.hpp"
using namespace attune::axes;

attune::view<const float, batch<>, head<12>, query<>, head_dim<64>> q;
attune::view<const float, batch<>, kv_head<12>, key<>, head_dim<64>> k;
attune::view<const float, batch<>, kv_head<12>, key<>, value_dim<64>> v;
attune::view<float, batch<>, head<12>, query<>, value_dim<64>> out;

int main() {
#ifdef CORRECTED
  attune::kernel<gpt2>{}(q, k, v, out);
#else
  attune::kernel<gpt2>{}(q, k, v);
#endif
}

// A mask for a spec that has none.
// expect: this argument has no place in the call: the spec declares no such tensor or number
#include "emitted_example.hpp"
#include "runtime/kernel.hpp"
using namespace attune::axes;

attune::view<const float, batch<>, head<12>, query<>, head_dim<64>> q;
attune::view<const float, batch<>, kv_head<12>, key<>, head_dim<64>> k;
attune::view<const float, batch<>, kv_head<12>, key<>, value_dim<64>> v;
attune::view<float, batch<>, head<12>, query<>, value_dim<64>> out;
attune::view<const bool, batch<>, key<>> allowed;

int main() {
#ifdef CORRECTED
  attune::kernel<gpt2>{}(q, k, v, out);
#else
  attune::kernel<gpt2>{}(q, k, v, out, allowed);
#endif
}

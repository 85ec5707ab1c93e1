// A key view without its kv_head axis.
// expect: this view lacks an axis that this tensor of the kernel has; only batch may be left out
#include "emitted_example.hpp"
#include "runtime/kernel.hpp"
using namespace attune::axes;

attune::view<const float, batch<>, head<12>, query<>, head_dim<64>> q;
#ifdef CORRECTED
attune::view<const float, batch<>, kv_head<12>, key<>, head_dim<64>> k;
#else
attune::view<const float, batch<>, key<>, head_dim<64>> k;
#endif
attune::view<const float, batch<>, kv_head<12>, key<>, value_dim<64>> v;
attune::view<float, batch<>, head<12>, query<>, value_dim<64>> out;

int main() { attune::kernel<gpt2>{}(q, k, v, out); }

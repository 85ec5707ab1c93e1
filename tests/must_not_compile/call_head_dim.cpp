// A key view of head_dim 80 for a spec of 64.
// expect: an extent of this view is not the one that the spec says
#include "emitted_example.hpp"
#include "runtime/kernel.hpp"
using namespace attune::axes;

attune::view<const float, batch<>, head<12>, query<>, head_dim<64>> q;
#ifdef CORRECTED
attune::view<const float, batch<>, kv_head<12>, key<>, head_dim<64>> k;
#else
attune::view<const float, batch<>, kv_head<12>, key<>, head_dim<80>> k;
#endif
attune::view<const float, batch<>, kv_head<12>, key<>, value_dim<64>> v;
attune::view<float, batch<>, head<12>, query<>, value_dim<64>> out;

int main() { attune::kernel<gpt2>{}(q, k, v, out); }

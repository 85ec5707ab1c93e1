// An output that cannot be written.
// expect: the kernel writes to this tensor, but the view's elements are const
#include "emitted_example.hpp"
#include "runtime/kernel.hpp"
using namespace attune::axes;

attune::view<const float, batch<>, head<12>, query<>, head_dim<64>> q;
attune::view<const float, batch<>, kv_head<12>, key<>, head_dim<64>> k;
attune::view<const float, batch<>, kv_head<12>, key<>, value_dim<64>> v;
#ifdef CORRECTED
attune::view<float, batch<>, head<12>, query<>, value_dim<64>> out;
#else
attune::view<const float, batch<>, head<12>, query<>, value_dim<64>> out;
#endif

int main() { attune::kernel<gpt2>{}(q, k, v, out); }

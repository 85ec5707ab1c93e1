// A query view that names an axis twice.
// expect: this view has an axis twice
#include "emitted_example.hpp"
#include "runtime/kernel.hpp"
using namespace attune::axes;

#ifdef CORRECTED
attune::view<const float, batch<>, head<12>, query<>, head_dim<64>> q;
#else
attune::view<const float, query<>, head<12>, query<>, head_dim<64>> q;
#endif
attune::view<const float, batch<>, kv_head<12>, key<>, head_dim<64>> k;
attune::view<const float, batch<>, kv_head<12>, key<>, value_dim<64>> v;
attune::view<float, batch<>, head<12>, query<>, value_dim<64>> out;

int main() { attune::kernel<gpt2>{}(q, k, v, out); }

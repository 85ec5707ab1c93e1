// double elements for a spec that stores f32.
// expect: this view's elements are not of the type that the spec says
#include "emitted_example.hpp"
#include "runtime/kernel.hpp"
using namespace attune::axes;

#ifdef CORRECTED
attune::view<const float, batch<>, head<12>, query<>, head_dim<64>> q;
#else
attune::view<const double, batch<>, head<12>, query<>, head_dim<64>> q;
#endif
attune::view<const float, batch<>, kv_head<12>, key<>, head_dim<64>> k;
attune::view<const float, batch<>, kv_head<12>, key<>, value_dim<64>> v;
attune::view<float, batch<>, head<12>, query<>, value_dim<64>> out;

int main() { attune::kernel<gpt2>{}(q, k, v, out); }

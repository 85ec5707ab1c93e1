// Specs whose kernels are called on GPU targets.
#pragma once
#include "dsl/spec.hpp"

namespace gpu_call {
using namespace attune;

struct causal {
  static constexpr auto spec = attention(heads<12>, head_dim<64>, element<f32>, attune::causal<align::bottom_right>, returns<lse>);
};
struct grouped {
  static constexpr auto spec = attention(heads<32>, kv_heads<8>, head_dim<128>, element<f32>, attune::causal<align::bottom_right>, sliding_window<40>);
};

} // namespace gpu_call

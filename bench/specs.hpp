// What the benchmarks run. 12 heads of 64 features, f32, are the shape that published attention kernels are compared at.
#pragma once
#include "dsl/spec.hpp"

namespace attune::bench {

struct prefill_12x64 {
  static constexpr auto spec = operands(heads<12>, head_dim<64>, element<f32>, self_attention) | softmax() | weighted_sum();
};
struct prefill_12x64_causal {
  static constexpr auto spec = operands(heads<12>, head_dim<64>, element<f32>, self_attention) | mask(causal<>) | softmax() | weighted_sum();
};

} // namespace attune::bench

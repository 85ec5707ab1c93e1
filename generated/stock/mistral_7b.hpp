// Mistral-7B v0.1: 32 query heads on 8 kv heads of 128, causal, with a window of 4096 keys: the query's own and 4095 before
// it. Rotary positions are applied to query and key before the call. Source: Jiang et al. 2023 and config.json of
// mistralai/Mistral-7B-v0.1 (sliding_window 4096).
#pragma once
#include "dsl/spec.hpp"

namespace attune::stock {

struct mistral_7b {
  static constexpr auto spec =
      attention(heads<32>, kv_heads<8>, head_dim<128>, element<f32>, causal<align::bottom_right>, sliding_window<4095>);
};

struct mistral_7b_bf16 {
  static constexpr auto spec =
      attention(heads<32>, kv_heads<8>, head_dim<128>, element<bf16>, causal<align::bottom_right>, sliding_window<4095>);
};

} // namespace attune::stock

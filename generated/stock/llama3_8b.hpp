// Llama-3-8B: 32 query heads on 8 kv heads of 128, causal, prefill and decoding. Rotary positions are applied to query and
// key before the call. Source: config.json of meta-llama/Meta-Llama-3-8B (num_attention_heads 32, num_key_value_heads 8,
// hidden_size 4096).
#pragma once
#include "dsl/spec.hpp"

namespace attune::stock {

struct llama3_8b {
  static constexpr auto spec =
      attention(heads<32>, kv_heads<8>, head_dim<128>, element<f32>, causal<align::bottom_right>);
};

struct llama3_8b_bf16 {
  static constexpr auto spec =
      attention(heads<32>, kv_heads<8>, head_dim<128>, element<bf16>, causal<align::bottom_right>);
};

} // namespace attune::stock

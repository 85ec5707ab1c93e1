// Gemma-2-2B, its global layers: 8 query heads on 4 kv heads of 256, causal, scores capped at 50, scale 1/16
// (query_pre_attn_scalar 256). Rotary positions are applied to query and key before the call. Source: Gemma Team 2024 and
// config.json of google/gemma-2-2b (attn_logit_softcapping 50, query_pre_attn_scalar 256).
#pragma once
#include "dsl/spec.hpp"

namespace attune::stock {

struct gemma2_2b {
  static constexpr auto spec =
      operands(heads<8>, kv_heads<4>, head_dim<256>, element<f32>)
    | scores(scale<1, 16>, softcap<50>)
    | mask(causal<align::bottom_right>)
    | softmax()
    | weighted_sum();
};

struct gemma2_2b_bf16 {
  static constexpr auto spec =
      operands(heads<8>, kv_heads<4>, head_dim<256>, element<bf16>)
    | scores(scale<1, 16>, softcap<50>)
    | mask(causal<align::bottom_right>)
    | softmax()
    | weighted_sum();
};

} // namespace attune::stock

// What the rows `cache/…` and `rope/…` run: Llama 3's heads against caches of every element, in one tensor and in pages; and shapes of
// the other rows with rotary embedding.
#pragma once
#include "dsl/spec.hpp"

namespace attune::bench {

template <element_type E, class... More> constexpr auto cached(More... more) {
  return operands(heads<32>, kv_heads<8>, head_dim<128>, element<E>, more...) | softmax() | weighted_sum();
}

struct cache_f32 { static constexpr auto spec = cached<f32>(); };
struct cache_f32_paged { static constexpr auto spec = cached<f32>(paged<16>); };
struct cache_bf16 { static constexpr auto spec = cached<bf16>(); };
struct cache_bf16_paged { static constexpr auto spec = cached<bf16>(paged<16>); };
struct cache_int8_heads { static constexpr auto spec = cached<bf16>(kv_element<int8>, kv_scale<per_head>); };
struct cache_int8_tokens { static constexpr auto spec = cached<bf16>(kv_element<int8>, kv_scale<per_token>); };
struct cache_int8_paged { static constexpr auto spec = cached<bf16>(kv_element<int8>, kv_scale<per_token>, paged<16>); };
struct cache_e4m3 { static constexpr auto spec = cached<bf16>(kv_element<e4m3>); };
struct cache_e5m2 { static constexpr auto spec = cached<bf16>(kv_element<e5m2>); };
/// As many key heads as query heads: each key is used once.
struct cache_12x64_bf16 { static constexpr auto spec = operands(heads<12>, head_dim<64>, element<bf16>) | softmax() | weighted_sum(); };
struct cache_12x64_int8 { static constexpr auto spec = operands(heads<12>, head_dim<64>, element<bf16>, kv_element<int8>, kv_scale<per_token>) | softmax() | weighted_sum(); };
/// Prefill against pages; `causal/f32/avx512/12x64` is the same without them.
struct cache_prefill_paged { static constexpr auto spec = operands(heads<12>, head_dim<64>, element<f32>, paged<16>) | mask(causal<align::at_length>) | softmax() | weighted_sum(); };

template <element_type E> inline constexpr auto rope_prefill_of = operands(heads<12>, head_dim<64>, element<E>, self_attention) | rope() | softmax() | weighted_sum();
struct rope_12x64 { static constexpr auto spec = rope_prefill_of<f32>; };
struct rope_12x64_bf16 { static constexpr auto spec = rope_prefill_of<bf16>; };
struct rope_layer_768 {
  static constexpr auto spec = project(model_dim<768>, heads<12>, head_dim<64>, element<f32>, bias) | rope() | mask(causal<>) | softmax() | weighted_sum() | project_out(bias);
};
struct rope_decode { static constexpr auto spec = operands(heads<32>, kv_heads<8>, head_dim<128>, element<f32>) | rope() | softmax() | weighted_sum(); };
struct rope_decode_rotated {
  static constexpr auto spec = operands(heads<32>, kv_heads<8>, head_dim<128>, element<f32>) | rope(keys_rotated) | softmax() | weighted_sum();
};

} // namespace attune::bench

// Keys and values from caches: stored in fewer bits, in pages, and diagonals that follow the keys that a batch has. Pages and extents are
// chosen to fit no tile.
#pragma once
#include "dsl/spec.hpp"

namespace caches {
using namespace attune;

// Storage.
struct int8_tokens {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<40>, value_dim<24>, element<f32>, kv_element<int8>, kv_scale<per_token>,
                                         causal<align::at_length>, returns<lse>);
};
struct int8_heads {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<32>, element<bf16>, kv_element<int8>, kv_scale<per_head>,
                                         boolean<axis::batch, axis::query, axis::key>, key_lengths, masked_values<anything>);
};
struct e4m3_heads {
  static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f16>, kv_element<e4m3>, kv_scale<per_head>, causal<align::bottom_right>, returns<lse, weights>);
};
struct e5m2_bare { static constexpr auto spec = attention(heads<2>, head_dim<20>, element<f32>, kv_element<e5m2>, softcap<4>, key_lengths); };
struct bf16_beside_f32 { static constexpr auto spec = attention(heads<2>, kv_heads<1>, head_dim<64>, element<f32>, kv_element<bf16>, key_lengths, returns<lse>); };

// Pages.
struct paged_f32 {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<24>, value_dim<40>, element<f32>, paged<16>, causal<align::bottom_right>, sliding_window<37>,
                                         returns<lse, weights>);
};
struct paged_bf16 { static constexpr auto spec = attention(heads<8>, kv_heads<2>, head_dim<64>, element<bf16>, paged<32>, causal<align::at_length>, returns<lse>); };
struct paged_e4m3 {
  static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, paged<16>, kv_element<e4m3>, kv_scale<per_token>, causal<align::at_length>);
};
struct paged_int8 {
  static constexpr auto spec = attention(heads<3>, head_dim<16>, element<f32>, paged<8>, kv_element<int8>, kv_scale<per_token>, layout<bshd>,
                                         additive<axis::head, axis::key>, masked_values<anything>, returns<lse>);
};

} // namespace caches

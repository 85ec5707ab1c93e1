// Small specs with positional embeddings.
#pragma once
#include "dsl/spec.hpp"

namespace rotary {
using namespace attune;

struct rope_half {
  static constexpr auto spec = operands(heads<4>, kv_heads<2>, head_dim<64>, element<f32>) | rope() | mask(causal<align::bottom_right>) | softmax() | weighted_sum(returns<lse>);
};
struct rope_interleaved {
  static constexpr auto spec = operands(heads<2>, head_dim<32>, element<f32>) | rope(theta<500000>, pairing<interleaved>) | scores() | softmax() | weighted_sum(returns<lse, weights>);
};
struct rope_partly {
  static constexpr auto spec = operands(heads<2>, head_dim<20>, element<f32>) | rope(theta<20001, 2>, dims<12>) | mask(key_lengths) | softmax() | weighted_sum();
};
struct rope_partly_interleaved {
  static constexpr auto spec = operands(heads<2>, head_dim<7>, element<f32>, self_attention) | rope(pairing<interleaved>, dims<6>) | mask(causal<>) | softmax() | weighted_sum();
};
struct rope_offsets {
  static constexpr auto spec = operands(heads<4>, kv_heads<1>, head_dim<32>, element<f32>) | rope(position_offsets, keys_rotated) | mask(causal<align::bottom_right>, key_lengths)
                             | softmax() | weighted_sum();
};
struct rope_tables {
  static constexpr auto spec = operands(heads<2>, head_dim<24>, element<f32>) | rope(angle_tables, position_offsets, dims<16>) | mask(causal<align::top_left>) | softmax()
                             | weighted_sum();
};
struct rope_bf16 {
  static constexpr auto spec = operands(heads<4>, kv_heads<2>, head_dim<64>, element<bf16>) | rope(theta<1000000>, position_offsets) | mask(causal<align::bottom_right>) | softmax()
                             | weighted_sum();
};
struct rope_bf16_interleaved {
  static constexpr auto spec = operands(heads<2>, head_dim<32>, element<bf16>) | rope(pairing<interleaved>, keys_rotated) | scores() | softmax() | weighted_sum(returns<lse>);
};
struct rope_f16 {
  static constexpr auto spec = operands(heads<2>, head_dim<40>, element<f16>) | rope(dims<20>) | mask(causal<align::bottom_right>, sliding_window<30>) | softmax() | weighted_sum();
};
struct rope_layer {
  static constexpr auto spec = project(model_dim<48>, heads<4>, kv_heads<2>, head_dim<16>, element<f32>) | rope() | mask(causal<>) | softmax() | weighted_sum() | project_out();
};
struct rope_layer_bf16 {
  static constexpr auto spec = project(model_dim<64>, heads<2>, head_dim<32>, element<bf16>, bias) | rope(pairing<interleaved>, position_offsets) | mask(causal<>) | softmax()
                             | weighted_sum() | project_out(bias);
};
struct rope_at_length {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<24>, element<f32>, paged<16>, keys_rotated, theta<500000>, causal<align::at_length>);
};
struct rope_int8 {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<32>, element<f32>, kv_element<int8>, kv_scale<per_token>, keys_rotated, causal<align::bottom_right>);
};
struct rope_packed {
  static constexpr auto spec = attention(heads<2>, kv_heads<1>, head_dim<16>, element<f32>, theta<10000>, causal<align::bottom_right>, documents<offsets>, returns<lse>);
};
struct sinusoidal_layer { static constexpr auto spec = layer(model_dim<50>, heads<3>, head_dim<16>, element<f32>, sinusoidal_positions<10000>, bias); };
struct sinusoidal_layer_bf16 { static constexpr auto spec = layer(model_dim<64>, heads<2>, head_dim<32>, element<bf16>, sinusoidal_positions<10000>, causal<>); };
struct sinusoidal_layer_f16 { static constexpr auto spec = layer(model_dim<40>, heads<2>, head_dim<20>, element<f16>, sinusoidal_positions<10000>); };

} // namespace rotary

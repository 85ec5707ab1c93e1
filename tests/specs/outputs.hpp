// Small specs of what stands in softmax's place or beside it, and of what a call returns.
#pragma once
#include "dsl/spec.hpp"

namespace outputs {
using namespace attune;

// Sinks.
struct sinks_causal { static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<32>, element<f32>, causal<align::bottom_right>, sinks, returns<lse, weights>); };
struct sinks_bf16 {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<64>, element<bf16>, causal<align::bottom_right>, sliding_window<37>, sinks, returns<lse>);
};
struct sinks_layer { static constexpr auto spec = layer(model_dim<48>, heads<3>, head_dim<16>, element<f32>, bias, causal<>, sinks, returns<lse>); };

// Sigmoid.
struct sigmoid_plain { static constexpr auto spec = operands(heads<2>, head_dim<32>, element<f32>) | sigmoid() | weighted_sum(returns<weights>); };
struct sigmoid_causal {
  static constexpr auto spec = operands(heads<4>, kv_heads<2>, head_dim<40>, element<f32>)
                             | scores(softcap<4>) | mask(causal<align::bottom_right>, sliding_window<runtime>) | sigmoid(sigmoid_bias<runtime>) | weighted_sum();
};
struct sigmoid_masked {
  static constexpr auto spec = operands(heads<2>, head_dim<24>, value_dim<40>, element<f32>)
                             | mask(boolean<axis::batch, axis::query, axis::key>, key_lengths) | sigmoid(sigmoid_bias<-7, 2>) | weighted_sum(masked_values<anything>);
};
struct sigmoid_bf16 {
  static constexpr auto spec = operands(heads<4>, kv_heads<2>, head_dim<64>, element<bf16>) | mask(causal<align::bottom_right>) | sigmoid(sigmoid_bias<-3>) | weighted_sum();
};

// Scores.
struct all_scores {
  static constexpr auto spec = operands(heads<4>, kv_heads<2>, head_dim<24>, element<f32>)
                             | scores(softcap<2>, [](auto s, auto at) { return s + 0.01 * (at.key - at.query); })
                             | mask(causal<align::bottom_right>, key_lengths, additive<axis::head, axis::key>)
                             | softmax() | weighted_sum(returns<lse, weights, scaled_scores, capped_scores, masked_scores>);
};
struct weights_f32 { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, key_lengths, returns<lse, weights>); };
struct weights_bf16 { static constexpr auto spec = attention(heads<2>, head_dim<64>, element<bf16>, causal<align::bottom_right>, returns<weights>); };
struct only_scaled_scores { static constexpr auto spec = attention(heads<2>, head_dim<64>, element<f16>, causal<align::top_left>, returns<scaled_scores>); };

// Parts that are merged.
struct parts { static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<32>, element<f32>, key_lengths, returns<lse>); };
struct parts_bf16 { static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<32>, element<bf16>, key_lengths, returns<lse>); };

} // namespace outputs

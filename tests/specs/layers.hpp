// Small specs with projections.
#pragma once
#include "dsl/spec.hpp"

namespace layers {
using namespace attune;

struct layer_f32 { static constexpr auto spec = layer(model_dim<36>, heads<3>, head_dim<12>, element<f32>, bias, returns<lse, weights>); };
struct layer_gqa_causal { static constexpr auto spec = layer(model_dim<50>, heads<4>, kv_heads<2>, head_dim<20>, value_dim<10>, element<f32>, causal<>); };
struct layer_lengths { static constexpr auto spec = layer(model_dim<64>, heads<2>, head_dim<32>, element<f32>, bias, key_lengths); };
struct layer_bf16 { static constexpr auto spec = layer(model_dim<96>, heads<3>, head_dim<32>, element<bf16>, bias, causal<>); };
struct layer_f16 { static constexpr auto spec = layer(model_dim<40>, heads<2>, kv_heads<1>, head_dim<24>, element<f16>); };
struct without_project_out {
  static constexpr auto spec = project(model_dim<33>, heads<3>, head_dim<11>, element<f32>, bias) | scores() | softmax() | weighted_sum(returns<lse>);
};
struct other_output_dim {
  static constexpr auto spec = project(model_dim<32>, heads<2>, head_dim<16>, element<f32>) | scores() | softmax() | weighted_sum() | project_out(model_dim<21>, bias);
};
struct cross_layer {
  static constexpr auto spec = project(model_dim<48>, heads<3>, head_dim<16>, element<f32>, cross_attention, context_dim<28>, bias)
                             | scores() | mask(key_lengths) | softmax() | weighted_sum() | project_out(bias);
};
struct cross_layer_bf16 {
  static constexpr auto spec = project(model_dim<64>, heads<2>, head_dim<32>, element<bf16>, cross_attention) | scores() | softmax() | weighted_sum() | project_out();
};

} // namespace layers

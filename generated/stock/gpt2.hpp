// GPT-2 (the 124M model): 12 heads of 64, 768 features, biases on every projection, causal. The operand specs also serve
// decoding with a cache, where queries are fewer than keys: the last query stands at the last key. Source: Radford et al.
// 2019 and config.json of openai-community/gpt2 (n_head 12, n_embd 768).
#pragma once
#include "dsl/spec.hpp"

namespace attune::stock {

struct gpt2 {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>)
    | scores(scale<rsqrt_head_dim>)
    | mask(causal<align::bottom_right>)
    | softmax(empty_rows<zero>)
    | weighted_sum();
};

struct gpt2_f16 {
  static constexpr auto spec = attention(heads<12>, head_dim<64>, element<f16>, causal<align::bottom_right>);
};

struct gpt2_bf16 {
  static constexpr auto spec = attention(heads<12>, head_dim<64>, element<bf16>, causal<align::bottom_right>);
};

struct gpt2_layer {
  static constexpr auto spec = layer(model_dim<768>, heads<12>, head_dim<64>, element<f32>, bias, causal<>);
};

} // namespace attune::stock

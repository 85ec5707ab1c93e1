// all-MiniLM-L6-v2, a sentence encoder (Microsoft's MiniLM-L12-H384 cut to 6 layers): 12 heads of 32, 384 features,
// biases on every projection, padded batches. Source: config.json of sentence-transformers/all-MiniLM-L6-v2
// (num_attention_heads 12, hidden_size 384).
#pragma once
#include "dsl/spec.hpp"

namespace attune::stock {

struct minilm {
  static constexpr auto spec =
      operands(heads<12>, head_dim<32>, element<f32>)
    | mask(key_lengths)
    | softmax()
    | weighted_sum();
};

struct minilm_bf16 {
  static constexpr auto spec =
      operands(heads<12>, head_dim<32>, element<bf16>)
    | mask(key_lengths)
    | softmax()
    | weighted_sum();
};

struct minilm_layer {
  static constexpr auto spec =
      project(model_dim<384>, heads<12>, head_dim<32>, element<f32>, bias)
    | mask(key_lengths)
    | softmax()
    | weighted_sum()
    | project_out(bias);
};

struct minilm_layer_bf16 {
  static constexpr auto spec =
      project(model_dim<384>, heads<12>, head_dim<32>, element<bf16>, bias)
    | mask(key_lengths)
    | softmax()
    | weighted_sum()
    | project_out(bias);
};

/// Also returns the attention maps, to compare them with those of the original model.
struct minilm_layer_with_weights {
  static constexpr auto spec =
      project(model_dim<384>, heads<12>, head_dim<32>, element<f32>, bias)
    | mask(key_lengths)
    | softmax()
    | weighted_sum(returns<weights>)
    | project_out(bias);
};

} // namespace attune::stock

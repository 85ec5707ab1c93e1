// BERT-base: 12 heads of 64, 768 features, biases on every projection, padded batches. Source: Devlin et al. 2019 and
// config.json of google-bert/bert-base-uncased (num_attention_heads 12, hidden_size 768).
#pragma once
#include "dsl/spec.hpp"

namespace attune::stock {

struct bert_base {
  static constexpr auto spec = attention(heads<12>, head_dim<64>, element<f32>, key_lengths);
};

struct bert_base_layer {
  static constexpr auto spec = layer(model_dim<768>, heads<12>, head_dim<64>, element<f32>, bias, key_lengths);
};

} // namespace attune::stock

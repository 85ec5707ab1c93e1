// Sentence embeddings: token embeddings, the encoder's layers, the mean over valid tokens, scaled to length 1.
#pragma once
#include "attention.hpp"

namespace minilm {

/// Attention weights of each layer, if asked for: [sentence, head, query, key].
using attention_maps = std::vector<std::vector<float>>;

/// Embeddings [sentence, model_dim], each of Euclidean length 1. Throws std::runtime_error if a token id or the number of
/// tokens is beyond the model.
matrix encode(const encoder_weights &, self_attention &, const token_batch &, attention_maps * = nullptr);

} // namespace minilm

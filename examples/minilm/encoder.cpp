#include "encoder.hpp"
#include <cmath>
#include <fmt/format.h>
#include <numbers>
#include <stdexcept>

namespace minilm {
namespace {

matrix apply(const dense &d, const matrix &x) {
  matrix y(x.rows(), d.weight.rows());
  y.noalias() = x * d.weight.transpose();
  y.rowwise() += d.bias;
  return y;
}

void normalise_rows(const layer_norm &norm, matrix &x) {
  for (auto row : x.rowwise()) {
    row.array() -= row.mean();
    const float variance = row.squaredNorm() / static_cast<float>(row.size());
    row = (row / std::sqrt(variance + norm.epsilon)).cwiseProduct(norm.scale) + norm.shift;
  }
}

/// The exact form, with the error function: BERT's "gelu".
float gelu(float x) { return 0.5f * x * (1.0f + std::erf(x * (std::numbers::sqrt2_v<float> / 2))); }

matrix embed_tokens(const encoder_weights &w, const token_batch &batch) {
  if (batch.tokens > w.config.positions)
    throw std::runtime_error(fmt::format("a sentence has {} tokens; the model takes at most {}", batch.tokens, w.config.positions));
  matrix hidden(batch.sentences * batch.tokens, w.config.model_dim);
  for (int i = 0; i < hidden.rows(); ++i) {
    const std::int32_t id = batch.ids[static_cast<std::size_t>(i)];
    if (id < 0 || id >= w.config.vocabulary)
      throw std::runtime_error(fmt::format("token id {} is outside the model's vocabulary of {}", id, w.config.vocabulary));
    hidden.row(i) = w.words.row(id) + w.positions.row(i % batch.tokens) + w.token_types.row(0);
  }
  normalise_rows(w.after_embedding, hidden);
  return hidden;
}

matrix pool(const token_batch &batch, const matrix &hidden) {
  matrix embeddings(batch.sentences, hidden.cols());
  for (int s = 0; s < batch.sentences; ++s) {
    const auto valid = hidden.middleRows(s * batch.tokens, batch.lengths[static_cast<std::size_t>(s)]);
    embeddings.row(s) = valid.colwise().mean().normalized();
  }
  return embeddings;
}

} // namespace

matrix encode(const encoder_weights &w, self_attention &attention, const token_batch &batch, attention_maps *maps) {
  if (maps) maps->resize(w.layers.size());
  matrix hidden = embed_tokens(w, batch), attended(hidden.rows(), hidden.cols());
  for (std::size_t i = 0; i < w.layers.size(); ++i) {
    const encoder_layer &layer = w.layers[i];
    attention.run(static_cast<int>(i), batch, hidden, attended, maps ? &(*maps)[i] : nullptr);
    hidden += attended;
    normalise_rows(layer.after_attention, hidden);
    hidden += apply(layer.contract, apply(layer.expand, hidden).unaryExpr(&gelu));
    normalise_rows(layer.after_feed_forward, hidden);
  }
  return pool(batch, hidden);
}

} // namespace minilm

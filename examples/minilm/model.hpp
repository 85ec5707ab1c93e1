// The weights of a BERT encoder, as sentence-transformers stores them: model.safetensors and config.json in one folder.
#pragma once
#include <Eigen/Core>
#include <filesystem>
#include <string>
#include <vector>

namespace minilm {

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using row_vector = Eigen::RowVectorXf;

/// y = x weight^T + bias
struct dense {
  matrix weight;   ///< [feature out, feature in]
  row_vector bias; ///< [feature out]
};

struct layer_norm {
  row_vector scale, shift; ///< [model_dim]
  float epsilon = 0;
};

struct encoder_layer {
  dense query, key, value, output; ///< of the self-attention
  layer_norm after_attention;
  dense expand, contract;          ///< the feed-forward block: model_dim -> intermediate -> model_dim
  layer_norm after_feed_forward;
};

struct encoder_config {
  int model_dim = 0, heads = 0, layers = 0, intermediate = 0;
  int vocabulary = 0, positions = 0, token_types = 0;
  float norm_epsilon = 0;
};

struct encoder_weights {
  encoder_config config;
  matrix words, positions, token_types; ///< [entry, model_dim]
  layer_norm after_embedding;
  std::vector<encoder_layer> layers;
};

/// Throws std::runtime_error if a file is absent or damaged, or the model is not a BERT with exact GELU and absolute positions.
encoder_weights load_weights(const std::filesystem::path &folder);

} // namespace minilm

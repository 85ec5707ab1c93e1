#include "model.hpp"
#include "common/safetensors.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace minilm {
namespace {

encoder_config load_config(const std::filesystem::path &path) try {
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error(fmt::format("{}: cannot be opened for reading", path.string()));
  const auto json = nlohmann::json::parse(stream);
  const auto expect = [&](const char *key, const std::string &wanted) {
    if (const std::string found = json.at(key); found != wanted)
      throw std::runtime_error(fmt::format("{}: {} is '{}'; this encoder knows '{}'", path.string(), key, found, wanted));
  };
  expect("model_type", "bert");
  expect("hidden_act", "gelu");
  expect("position_embedding_type", "absolute");
  return {json.at("hidden_size"), json.at("num_attention_heads"),    json.at("num_hidden_layers"), json.at("intermediate_size"),
          json.at("vocab_size"),  json.at("max_position_embeddings"), json.at("type_vocab_size"),   json.at("layer_norm_eps")};
} catch (const nlohmann::json::exception &e) {
  throw std::runtime_error(fmt::format("{}: {}", path.string(), e.what()));
}

/// Reads tensors by name, with the extents that the config gives them.
class weight_reader {
public:
  explicit weight_reader(const std::filesystem::path &path) : file_(path) {}

  matrix read_matrix(const std::string &name, int rows, int columns) {
    const std::vector<float> values = file_.read(name, {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)});
    return Eigen::Map<const matrix>(values.data(), rows, columns);
  }
  row_vector read_vector(const std::string &name, int extent) {
    const std::vector<float> values = file_.read(name, {static_cast<std::size_t>(extent)});
    return Eigen::Map<const row_vector>(values.data(), extent);
  }
  dense read_dense(const std::string &name, int out, int in) {
    return {read_matrix(name + ".weight", out, in), read_vector(name + ".bias", out)};
  }
  layer_norm read_norm(const std::string &name, const encoder_config &c) {
    return {read_vector(name + ".weight", c.model_dim), read_vector(name + ".bias", c.model_dim), c.norm_epsilon};
  }
  encoder_layer read_layer(const std::string &name, const encoder_config &c) {
    const auto attention = [&](const char *part) { return read_dense(name + ".attention." + part, c.model_dim, c.model_dim); };
    return {attention("self.query"),
            attention("self.key"),
            attention("self.value"),
            attention("output.dense"),
            read_norm(name + ".attention.output.LayerNorm", c),
            read_dense(name + ".intermediate.dense", c.intermediate, c.model_dim),
            read_dense(name + ".output.dense", c.model_dim, c.intermediate),
            read_norm(name + ".output.LayerNorm", c)};
  }

private:
  examples::safetensors_file file_;
};

} // namespace

encoder_weights load_weights(const std::filesystem::path &folder) {
  encoder_weights w;
  const encoder_config c = w.config = load_config(folder / "config.json");
  weight_reader reader(folder / "model.safetensors");
  w.words = reader.read_matrix("embeddings.word_embeddings.weight", c.vocabulary, c.model_dim);
  w.positions = reader.read_matrix("embeddings.position_embeddings.weight", c.positions, c.model_dim);
  w.token_types = reader.read_matrix("embeddings.token_type_embeddings.weight", c.token_types, c.model_dim);
  w.after_embedding = reader.read_norm("embeddings.LayerNorm", c);
  for (int i = 0; i < c.layers; ++i) w.layers.push_back(reader.read_layer(fmt::format("encoder.layer.{}", i), c));
  return w;
}

} // namespace minilm

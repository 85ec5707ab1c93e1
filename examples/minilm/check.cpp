#include "check.hpp"
#include "common/npy.hpp"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace minilm {
namespace {

constexpr double embedding_bound = 2e-5, map_bound = 1e-5, cosine_bound_bf16 = 5e-3;

/// A comparison must not pass on NaN, so it keeps a NaN as the largest difference.
class largest_difference {
public:
  void add(double got, double wanted) {
    const double difference = std::abs(got - wanted);
    if (std::isnan(difference) || difference > value_) value_ = difference;
    ++count_;
  }
  bool print(const std::string &what, double bound) const {
    const bool holds = count_ > 0 && value_ <= bound;
    fmt::print("  {:<44} {:5} values  largest difference {:.2e}  allowed {:.0e}  {}\n", what, count_, value_, bound, holds ? "ok" : "WRONG");
    return holds;
  }

private:
  double value_ = 0;
  int count_ = 0;
};

struct reference {
  std::vector<tokenised_sentence> sentences;
  examples::array_f32 embeddings; ///< [sentence, model_dim]
  nlohmann::json golden;
};

reference load_reference(const std::filesystem::path &folder) {
  const auto path = folder / "golden.json";
  reference r{load_sentences(path), examples::read_npy(folder / "embeddings.npy"), {}};
  std::ifstream(path) >> r.golden;
  return r;
}

bool check_embeddings(const matrix &embeddings, const reference &r) {
  const std::vector<std::size_t> shape{static_cast<std::size_t>(embeddings.rows()), static_cast<std::size_t>(embeddings.cols())};
  if (r.embeddings.shape != shape) throw std::runtime_error("embeddings.npy does not have the shape of the stored sentences' embeddings");
  largest_difference difference;
  for (std::size_t i = 0; i < r.embeddings.values.size(); ++i) difference.add(embeddings.data()[i], r.embeddings.values[i]);
  return difference.print("embeddings", embedding_bound);
}

bool check_cosines(const matrix &embeddings, const reference &r, double bound) {
  const matrix cosine = embeddings * embeddings.transpose();
  largest_difference difference;
  for (int i = 0; i < cosine.rows(); ++i)
    for (int j = 0; j < cosine.cols(); ++j) difference.add(cosine(i, j), r.golden.at("cosine").at(i).at(j));
  return difference.print("cosines of all pairs", bound);
}

struct stored_map {
  int layer, head, sentence; ///< from 0
};

bool check_map(const stored_map &m, const attention_maps &maps, const token_batch &batch, int heads, const reference &r) {
  const auto &golden = r.golden.at(fmt::format("attention_layer{}_head{}_sentence{}", m.layer, m.head, m.sentence));
  const int length = batch.lengths[static_cast<std::size_t>(m.sentence)];
  const std::vector<float> &map = maps.at(static_cast<std::size_t>(m.layer));
  largest_difference difference;
  for (int query = 0; query < length; ++query)
    for (int key = 0; key < length; ++key) {
      const int index = ((m.sentence * heads + m.head) * batch.tokens + query) * batch.tokens + key;
      difference.add(map.at(static_cast<std::size_t>(index)), golden.at(query).at(key));
    }
  return difference.print(fmt::format("attention of layer {}, head {}, sentence {}", m.layer, m.head, m.sentence + 1), map_bound);
}

} // namespace

bool check_against_reference(const encoder_weights &w, const attention_options &options, const std::filesystem::path &folder) {
  const reference r = load_reference(folder);
  const token_batch batch = make_batch(r.sentences);
  const auto attention = make_self_attention(w, options);
  const bool is_bf16 = options.kind == attention_kind::bf16;
  fmt::print("Against the stored reference: {} sentences padded to {} tokens, attention {} on {}\n", batch.sentences, batch.tokens,
             is_bf16 ? "bf16" : "f32", attention->target());
  const matrix embeddings = encode(w, *attention, batch);
  if (is_bf16) return check_cosines(embeddings, r, cosine_bound_bf16);

  bool holds = check_embeddings(embeddings, r);
  attention_options with_maps = options;
  with_maps.kind = attention_kind::f32_with_maps;
  attention_maps maps;
  encode(w, *make_self_attention(w, with_maps), batch, &maps);
  for (const stored_map &m : {stored_map{0, 0, 0}, stored_map{5, 11, 2}}) holds &= check_map(m, maps, batch, w.config.heads, r);
  return holds;
}

} // namespace minilm

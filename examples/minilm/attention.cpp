#include "attention.hpp"
#include "attune_stock/minilm_layer.hpp"
#include "attune_stock/minilm_layer_bf16.hpp"
#include "attune_stock/minilm_layer_with_weights.hpp"
#include "common/target.hpp"
#include "runtime/kernel.hpp"
#include <fmt/format.h>
#include <type_traits>

namespace minilm {
namespace {

namespace axes = attune::axes;

template <class Spec> class generated_attention final : public self_attention {
  static constexpr attune::numbers n = attune::artefact<Spec>::n;
  using element = std::conditional_t<n.element == attune::element_type::bf16, attune::bf16_t, float>;
  template <class T> using states = attune::view<T, axes::batch<>, axes::query<>, axes::model_dim<n.model_dim>>;

public:
  generated_attention(const encoder_weights &w, const attention_options &options) {
    if (w.config.model_dim != n.model_dim || w.config.heads != n.heads)
      throw std::runtime_error(fmt::format("the model has {} features and {} heads; this library is for {} and {}", w.config.model_dim,
                                           w.config.heads, n.model_dim, n.heads));
    options_.target = examples::choose_target(attune::artefact<Spec>::info(), options.target);
    options_.threads = options.threads;
    for (const encoder_layer &layer : w.layers) layers_.push_back(pack(layer));
  }

  void run(int layer, const token_batch &batch, const matrix &hidden, matrix &output, std::vector<float> *map) override {
    if constexpr (std::is_same_v<element, float>) {
      call(layer, batch, hidden.data(), output.data(), map);
    } else {
      const std::vector<element> rounded(hidden.data(), hidden.data() + hidden.size());
      std::vector<element> result(rounded.size());
      call(layer, batch, rounded.data(), result.data(), map);
      for (std::size_t i = 0; i < result.size(); ++i) output.data()[i] = static_cast<float>(result[i]);
    }
  }

  std::string target() const override { return attune::info_of(*options_.target).name; }

private:
  /// A dense layer's features are heads x head_dim, head by head: out for query, key and value, in for output.
  attune::packed_weights<Spec> pack(const encoder_layer &layer) const {
    using in_heads = attune::view<const float, axes::head<n.heads>, axes::head_dim<n.head_dim>, axes::model_dim<n.model_dim>>;
    using in_kv_heads = attune::view<const float, axes::kv_head<n.heads>, axes::head_dim<n.head_dim>, axes::model_dim<n.model_dim>>;
    using values = attune::view<const float, axes::kv_head<n.heads>, axes::value_dim<n.value_dim>, axes::model_dim<n.model_dim>>;
    using from_heads = attune::view<const float, axes::model_dim<n.model_dim>, axes::head<n.heads>, axes::value_dim<n.value_dim>>;
    attune::projection_weights<Spec> w;
    w.query = in_heads(layer.query.weight.data());
    w.key = in_kv_heads(layer.key.weight.data());
    w.value = values(layer.value.weight.data());
    w.output = from_heads(layer.output.weight.data());
    w.query_bias = attune::view<const float, axes::head<n.heads>, axes::head_dim<n.head_dim>>(layer.query.bias.data());
    w.key_bias = attune::view<const float, axes::kv_head<n.heads>, axes::head_dim<n.head_dim>>(layer.key.bias.data());
    w.value_bias = attune::view<const float, axes::kv_head<n.heads>, axes::value_dim<n.value_dim>>(layer.value.bias.data());
    w.output_bias = attune::view<const float, axes::model_dim<n.model_dim>>(layer.output.bias.data());
    return attune::pack_weights(w, options_);
  }

  void call(int layer, const token_batch &batch, const element *hidden, element *output, [[maybe_unused]] std::vector<float> *map) const {
    const attune::kernel<Spec> kernel;
    const attune::packed_weights<Spec> &weights = layers_[static_cast<std::size_t>(layer)];
    const states<const element> from(hidden, batch.sentences, batch.tokens);
    const states<element> to(output, batch.sentences, batch.tokens);
    const attune::view<const std::int32_t, axes::batch<>> lengths(batch.lengths.data(), batch.sentences);
    if constexpr (n.returns_weights) {
      map->resize(static_cast<std::size_t>(batch.sentences) * n.heads * static_cast<std::size_t>(batch.tokens) * static_cast<std::size_t>(batch.tokens));
      const attune::view<float, axes::batch<>, axes::head<n.heads>, axes::query<>, axes::key<>> maps(map->data(), batch.sentences, batch.tokens, batch.tokens);
      kernel(from, weights, to, maps, lengths, options_);
    } else {
      kernel(from, weights, to, lengths, options_);
    }
  }

  attune::call_options options_;
  std::vector<attune::packed_weights<Spec>> layers_;
};

} // namespace

std::unique_ptr<self_attention> make_self_attention(const encoder_weights &w, const attention_options &options) {
  switch (options.kind) {
    case attention_kind::f32: return std::make_unique<generated_attention<attune::stock::minilm_layer>>(w, options);
    case attention_kind::bf16: return std::make_unique<generated_attention<attune::stock::minilm_layer_bf16>>(w, options);
    case attention_kind::f32_with_maps: return std::make_unique<generated_attention<attune::stock::minilm_layer_with_weights>>(w, options);
  }
  throw std::logic_error("make_self_attention: unknown kind");
}

} // namespace minilm

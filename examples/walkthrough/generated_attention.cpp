#include "attention.hpp"
#include "attune_stock/article1_self_attention.hpp"
#include "attune_stock/article2_multi_head.hpp"
#include "attune_stock/article2_single_head.hpp"
#include "attune_stock/article2_single_head_causal.hpp"
#include "common/target.hpp"
#include "runtime/kernel.hpp"

namespace walkthrough {
namespace {

namespace axes = attune::axes;
namespace stock = attune::stock;

template <class Spec> attune::packed_weights<Spec> pack(const weights &w, const attune::call_options &options) {
  constexpr attune::numbers n = attune::artefact<Spec>::n;
  using features = axes::model_dim<n.model_dim>;
  attune::projection_weights<Spec> p;
  p.query = attune::view<const float, axes::head<n.heads>, axes::head_dim<n.head_dim>, features>(w.query.values.data());
  p.key = attune::view<const float, axes::kv_head<n.kv_heads>, axes::head_dim<n.head_dim>, features>(w.key.values.data());
  p.value = attune::view<const float, axes::kv_head<n.kv_heads>, axes::value_dim<n.value_dim>, features>(w.value.values.data());
  if constexpr (n.output_dim > 0)
    p.output = attune::view<const float, axes::model_dim<n.output_dim>, axes::head<n.heads>, axes::value_dim<n.value_dim>>(w.output.values.data());
  return attune::pack_weights(p, options);
}

/// Without an output projection the result has a head axis; it stands inside the query axis here, as in the articles.
template <class Spec> auto output_view(float *data, const sequence &x) {
  constexpr attune::numbers n = attune::artefact<Spec>::n;
  if constexpr (n.output_dim > 0) return attune::view<float, axes::batch<>, axes::query<>, axes::model_dim<n.output_dim>>(data, x.batch, x.tokens);
  else return attune::view<float, axes::batch<>, axes::query<>, axes::head<n.heads>, axes::value_dim<n.value_dim>>(data, x.batch, x.tokens);
}

/// `inputs`: the tensors that the spec declares.
template <class Spec, class... Inputs> attended run(const weights &w, const sequence &x, const std::string &target, const Inputs &...inputs) {
  constexpr attune::numbers n = attune::artefact<Spec>::n;
  attune::call_options options;
  options.target = examples::choose_target(attune::artefact<Spec>::info(), target);
  const std::size_t rows = static_cast<std::size_t>(x.batch) * static_cast<std::size_t>(x.tokens);
  attended result;
  result.output.resize(rows * (n.output_dim > 0 ? n.output_dim : n.heads * n.value_dim));
  result.weights.resize(rows * n.heads * static_cast<std::size_t>(x.tokens));
  attune::kernel<Spec>{}(attune::view<const float, axes::batch<>, axes::query<>, axes::model_dim<n.model_dim>>(x.values.data(), x.batch, x.tokens),
                         pack<Spec>(w, options), output_view<Spec>(result.output.data(), x),
                         attune::view<float, axes::batch<>, axes::head<n.heads>, axes::query<>, axes::key<>>(result.weights.data(), x.batch, x.tokens, x.tokens),
                         inputs..., options);
  return result;
}

} // namespace

attended run_first_article(const weights &w, const sequence &x, const std::string &target) { return run<stock::article1_self_attention>(w, x, target); }

attended run_single_head(const weights &w, const sequence &x, const std::vector<std::uint8_t> &mask, const std::string &target) {
  return run<stock::article2_single_head>(w, x, target, attune::view<const std::uint8_t, axes::query<>, axes::key<>>(mask.data(), x.tokens, x.tokens));
}

attended run_single_head_causal(const weights &w, const sequence &x, const std::string &target) {
  return run<stock::article2_single_head_causal>(w, x, target);
}

attended run_multi_head(const weights &w, const sequence &x, const std::string &target) { return run<stock::article2_multi_head>(w, x, target); }

std::string name_of_target(const std::string &target) {
  return attune::info_of(examples::choose_target(attune::artefact<stock::article1_self_attention>::info(), target)).name;
}

} // namespace walkthrough

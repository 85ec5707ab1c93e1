// The flat type that a chain collapses to as soon as it is complete: numbers as values, types only for what must be a type.
#pragma once
#include "dsl/brought.hpp"
#include "dsl/numbers.hpp"
#include "dsl/stages.hpp"

namespace attune::language {

template <class Source, bool SameExtents, class Keys, class SourceInputs, class Inputs, class Scores, class Masks>
struct flat_spec : numbers, chain_facts<Source, weighted_sum_stage, SameExtents, SourceInputs, Keys> {
  using facts = chain_facts<Source, weighted_sum_stage, SameExtents, SourceInputs, Keys>;
  using inputs = Inputs;           ///< types<property<key, element, axes...>...>, in the order of the call
  using score_functions = Scores;  ///< types<function<F>...>
  using mask_functions = Masks;
  constexpr explicit flat_spec(const numbers &n) : numbers(n) {}
};

/// 1 / sqrt(x), rounded to double. Newton's iteration for the root: std::sqrt is no constant expression.
constexpr double reciprocal_root(int x) {
  long double root = x;
  for (int i = 0; i < 32; ++i) root = (root + x / root) / 2;
  return static_cast<double>(1 / root);
}

template <class Key, auto... V> constexpr setting setting_of(property<Key, V...>, int head_dim) {
  if constexpr (sizeof...(V) == 2) {
    constexpr int ratio[] = {V...};
    return {setting::fixed, double(ratio[0]) / ratio[1]};
  } else if constexpr ((std::is_same_v<decltype(V), decided> && ...)) {
    return {setting::at_call, 0};
  } else if constexpr ((std::is_same_v<decltype(V), scale_rule> && ...)) {
    return {setting::fixed, reciprocal_root(head_dim)};
  } else {
    return {setting::fixed, double((V + ...))};
  }
}
constexpr setting setting_of(setting fallback, int) { return fallback; }

/// The property Key of a stage, or the fallback.
template <class Key, class Stage, class Fallback> constexpr auto property_of(Stage, Fallback fallback) {
  return hana::find(Stage::properties, hana::type_c<Key>).value_or(fallback);
}
/// Its value, or the fallback.
template <class Key, class Stage, class T> constexpr T value_of(Stage s, T fallback) {
  constexpr auto read = [](auto found, T otherwise) {
    if constexpr (is_property<decltype(found)>) return []<class K, auto V, auto... R>(property<K, V, R...>) { return T(V); }(found);
    else return otherwise;
  };
  return read(property_of<Key>(s, none{}), fallback);
}
template <class Key, class Stage> constexpr bool has(Stage s) {
  return is_property<decltype(property_of<Key>(s, none{}))>;
}
template <class Key> constexpr bool returns_one(none, result) { return false; }
template <class Key, result... R> constexpr bool returns_one(property<Key, R...>, result wanted) { return ((R == wanted) || ...); }

template <slot At, class Map> constexpr auto stage_at(Map all) {
  return hana::find(all, hana::int_c<int(At)>).value_or(stage<absent_stage>{});
}

template <class Source> constexpr void read_source(numbers &n, Source source) {
  n.element = value_of<key::element>(source, element_type::f32);
  n.heads = value_of<key::heads>(source, 0);
  n.kv_heads = value_of<key::kv_heads>(source, n.heads);
  n.head_dim = value_of<key::head_dim>(source, 0);
  n.value_dim = value_of<key::value_dim>(source, n.head_dim);
  n.model_dim = value_of<key::model_dim>(source, 0);
  n.projection_bias = has<key::bias>(source);
  n.sinusoidal_theta = setting_of(property_of<key::sinusoidal_positions>(source, setting{}), n.head_dim).value;
  n.same_extents = Source::same_extents;
  n.layout = value_of<key::layout>(source, tensor_layout::bhsd);
  const element_type kv = value_of<key::kv_element>(source, n.element);
  n.cache = {kv != n.element, kv, value_of<key::kv_scale>(source, kv_scaling::off), value_of<key::paged>(source, 0)};
  if (n.model_dim == 0) return;
  const bool cross = has<key::cross_attention>(source);
  n.source = cross ? source_kind::cross_projection : source_kind::projection;
  n.context_dim = cross ? value_of<key::context_dim>(source, n.model_dim) : 0;
}

constexpr void read_window(numbers &, none) {}
template <auto Left> constexpr void read_window(numbers &n, property<key::sliding_window, Left>) { n.window = setting_of(property<key::sliding_window, Left>{}, 1); }
template <auto Left, auto Right> constexpr void read_window(numbers &n, property<key::sliding_window, Left, Right>) {
  n.window = setting_of(property<key::sliding_window, Left>{}, 1);
  n.window_right = setting_of(property<key::sliding_window, Right>{}, 1);
}

template <class Rope> constexpr void read_rope(numbers &n, Rope rope) {
  if (std::is_same_v<typename Rope::tag, absent_stage>) return;
  n.rope.dims = value_of<key::dims>(rope, n.head_dim);
  n.rope.theta = setting_of(property_of<key::theta>(rope, setting{setting::fixed, 10000}), n.head_dim).value;
  n.rope.pairing = value_of<key::pairing>(rope, rotary_pairing::half);
  n.rope.angle_tables = has<key::angle_tables>(rope);
  n.rope.position_offsets = has<key::position_offsets>(rope);
  n.rope.keys_rotated = has<key::keys_rotated>(rope);
}

template <class Masks> constexpr void read_mask(numbers &n, Masks masks) {
  n.causal = value_of<key::causal>(masks, causal_alignment::off);
  if (n.same_extents && n.causal != causal_alignment::off && n.causal != causal_alignment::at_length) n.causal = causal_alignment::diagonal;
  read_window(n, property_of<key::sliding_window>(masks, none{}));
  const auto read_blocks = []<auto Q, auto K, auto... A>(numbers &to, property<key::block_sparse, Q, K, A...>) { to.query_block = Q, to.key_block = K; };
  if constexpr (has<key::block_sparse>(Masks{})) read_blocks(n, property_of<key::block_sparse>(masks, none{}));
  if (is_paged(n) && n.causal == causal_alignment::bottom_right) n.causal = causal_alignment::at_length; // pages have no extent but the length
  n.key_lengths = has<key::key_lengths>(masks) || is_paged(n) || n.causal == causal_alignment::at_length;
}

/// Everything that the stages say, with defaults filled in. Hana's map finds each stage by its place.
template <class... S, class Sum> constexpr auto collapse(chain<S...>, Sum sum) {
  constexpr auto all = hana::make_map(hana::make_pair(hana::int_c<int(S::tag::where)>, S{})...);
  constexpr auto source = stage_at<slot::source>(all);
  constexpr auto score = stage_at<slot::scores>(all);
  constexpr auto masks = stage_at<slot::mask>(all);
  numbers n;
  read_source(n, source);
  read_rope(n, stage_at<slot::positions>(all));
  read_mask(n, masks);
  n.scale = setting_of(property_of<key::scale>(score, setting{setting::fixed, reciprocal_root(n.head_dim)}), n.head_dim);
  n.softcap = setting_of(property_of<key::softcap>(score, setting{}), n.head_dim);
  n.bias_buckets = value_of<key::relative_bias>(score, 0);
  constexpr auto weights = stage_at<slot::weights>(all);
  n.empty_rows = value_of<key::empty_rows>(weights, empty_row_policy::zero);
  n.sinks = has<key::sinks>(weights);
  using weights_t = std::remove_const_t<decltype(weights)>;
  n.weights = std::is_same_v<typename weights_t::tag, sigmoid_stage> ? weighting::sigmoid : weighting::softmax;
  n.sigmoid_bias = setting_of(property_of<key::sigmoid_bias>(weights, setting{}), n.head_dim);
  n.masked_values = value_of<key::masked_values>(sum, masked_value_policy::finite);
  const auto returned = [&](result wanted) { return returns_one<key::returns>(property_of<key::returns>(sum, none{}), wanted); };
  n.returns_lse = returned(result::lse);
  n.returns_weights = returned(result::weights);
  n.returns_scaled_scores = returned(result::scaled_scores);
  n.returns_capped_scores = returned(result::capped_scores);
  n.returns_masked_scores = returned(result::masked_scores);
  using source_t = std::remove_const_t<decltype(source)>;
  using score_t = std::remove_const_t<decltype(score)>;
  using mask_t = std::remove_const_t<decltype(masks)>;
  constexpr int heads = value_of<key::heads>(source, 0);
  using of_scores = decltype(all_brought_by<heads, source_t::same_extents>(typename score_t::listed{}));
  using of_masks = decltype(all_brought_by<heads, source_t::same_extents>(typename mask_t::listed{}));
  using inputs = decltype(typename source_t::inputs{} + typename of_scores::inputs{} + typename of_masks::inputs{} + typename weights_t::inputs{});
  return flat_spec<typename source_t::tag, source_t::same_extents, typename source_t::keys, typename source_t::inputs, inputs, typename of_scores::functions, typename of_masks::functions>(n);
}

} // namespace attune::language

// The rules of the language as they appear in a diagnostic: the name says what must hold, the arguments say who broke it.
// Each is a variable template on its culprit, because compilers print such a condition with its values in one line.
#pragma once
#include "dsl/lists.hpp"
#include "dsl/properties.hpp"
#include "dsl/spec_name.hpp"
#include "dsl/trial.hpp"

namespace attune::language {

// ---- values of a single property

/// Whether the values of a property can be meant. The primary template serves every property without a rule of its own.
template <class P> inline constexpr bool is_count = true; // heads and extents: at least 1
template <int N> inline constexpr bool is_count<property<key::heads, N>> = N > 0;
template <int N> inline constexpr bool is_count<property<key::kv_heads, N>> = N > 0;
template <int N> inline constexpr bool is_count<property<key::head_dim, N>> = N > 0;
template <int N> inline constexpr bool is_count<property<key::value_dim, N>> = N > 0;
template <int N> inline constexpr bool is_count<property<key::model_dim, N>> = N > 0;
template <int N> inline constexpr bool is_count<property<key::context_dim, N>> = N > 0;
template <auto Q, auto K, auto... A> inline constexpr bool is_count<property<key::block_sparse, Q, K, A...>> = Q > 0 && K > 0;

/// The features of a head that schedules are tested for: as many as the latent keys of multi-head latent attention have, 512 and 64 with
/// positions (DeepSeek-AI, DeepSeek-V2, 2024).
inline constexpr int most_features = 576;
template <class P> inline constexpr bool is_head_size = true;
template <int N> inline constexpr bool is_head_size<property<key::head_dim, N>> = N <= most_features;
template <int N> inline constexpr bool is_head_size<property<key::value_dim, N>> = N <= most_features;

template <class P> inline constexpr bool is_storable = true;
template <element_type E> inline constexpr bool is_storable<property<key::element, E>> = is_float(E);

/// How a cache may store keys and values.
template <class P> inline constexpr bool is_cacheable = true;
template <element_type E> inline constexpr bool is_cacheable<property<key::kv_element, E>> =
    is_storable<property<key::element, E>> || E == element_type::int8 || E == element_type::e4m3 || E == element_type::e5m2;
/// Whether elements of 8 bits and scales stand together: int8 needs a scale, and only 8 bits take one.
template <class P, class... All> inline constexpr bool has_its_scale = true;
template <class... All> inline constexpr bool has_its_scale<property<key::kv_element, element_type::int8>, All...> =
    (... || (std::is_same_v<All, property<key::kv_scale, kv_scaling::per_head>> || std::is_same_v<All, property<key::kv_scale, kv_scaling::per_token>>));
template <kv_scaling S, class... All> inline constexpr bool has_its_scale<property<key::kv_scale, S>, All...> =
    (... || (std::is_same_v<All, property<key::kv_element, element_type::int8>> || std::is_same_v<All, property<key::kv_element, element_type::e4m3>> ||
             std::is_same_v<All, property<key::kv_element, element_type::e5m2>>));
template <class P> inline constexpr bool is_page = true;
template <int N> inline constexpr bool is_page<property<key::paged, N>> = N > 0 && (N & (N - 1)) == 0;

/// A positive int, a ratio of two, or left to the call.
template <auto... V> inline constexpr bool is_positive_factor = false;
template <int N> inline constexpr bool is_positive_factor<N> = N > 0;
template <int N, int D> inline constexpr bool is_positive_factor<N, D> = N > 0 && D > 0;
template <> inline constexpr bool is_positive_factor<decided::runtime> = true;
template <class P> inline constexpr bool is_factor = true;
template <auto... V> inline constexpr bool is_factor<property<key::softcap, V...>> = is_positive_factor<V...>;
template <auto... V> inline constexpr bool is_factor<property<key::scale, V...>> = is_positive_factor<V...>;
template <> inline constexpr bool is_factor<property<key::scale, scale_rule::rsqrt_head_dim>> = true;

/// A whole number of either sign, a ratio with a positive denominator, or left to the call.
template <auto... V> inline constexpr bool is_any_number = false;
template <int N> inline constexpr bool is_any_number<N> = true;
template <int N, int D> inline constexpr bool is_any_number<N, D> = D > 0;
template <> inline constexpr bool is_any_number<decided::runtime> = true;
template <class P> inline constexpr bool is_sigmoid_bias = true;
template <auto... V> inline constexpr bool is_sigmoid_bias<property<key::sigmoid_bias, V...>> = is_any_number<V...>;

/// A number of keys, an int, 0 or more, or left to the call.
constexpr bool is_reach(int keys) { return keys >= 0; }
constexpr bool is_reach(decided) { return true; }
template <class T> constexpr bool is_reach(T) { return false; }
template <class P> inline constexpr bool is_window = true;
template <auto... W> inline constexpr bool is_window<property<key::sliding_window, W...>> = (sizeof...(W) == 1 || sizeof...(W) == 2) && (is_reach(W) && ...);

template <class P> inline constexpr bool is_alibi = true;
template <auto... V> inline constexpr bool is_alibi<property<key::alibi, V...>> = false;
template <> inline constexpr bool is_alibi<property<key::alibi>> = true;
template <> inline constexpr bool is_alibi<property<key::alibi, slope_source::slopes>> = true;
template <class P> inline constexpr bool has_good_buckets = true;
template <int B, int M, distance_direction D> inline constexpr bool has_good_buckets<property<key::relative_bias, B, M, D>> =
    D == distance_direction::bidirectional ? B >= 4 && B % 2 == 0 && M > B / 4 : B >= 2 && M > B / 2;

template <auto... V> inline constexpr bool is_fixed_factor = is_positive_factor<V...> && !(std::is_same_v<decltype(V), decided> || ...);
template <auto... V> inline constexpr bool is_factor<property<key::theta, V...>> = is_fixed_factor<V...>;
template <auto... V> inline constexpr bool is_factor<property<key::sinusoidal_positions, V...>> = is_fixed_factor<V...>;

template <class P> inline constexpr bool is_even = true;
template <int N> inline constexpr bool is_even<property<key::dims, N>> = N > 0 && N % 2 == 0;

template <axis_name... A> constexpr bool each_once() {
  constexpr int count = sizeof...(A);
  constexpr axis_name axes[] = {A..., axis_name::none};
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < i; ++j)
      if (axes[i] == axes[j]) return false;
  return true;
}
template <axis_name... A> inline constexpr bool are_score_axes =
    sizeof...(A) > 0 && each_once<A...>() &&
    ((A == axis_name::batch || A == axis_name::head || A == axis_name::query || A == axis_name::key) && ...);
template <class P> inline constexpr bool has_score_axes = true;
template <auto E, auto... A> inline constexpr bool has_score_axes<property<key::boolean, E, A...>> = are_score_axes<A...>;
template <auto E, auto... A> inline constexpr bool has_score_axes<property<key::additive, E, A...>> = are_score_axes<A...>;
template <auto Q, auto K, auto... A> inline constexpr bool has_score_axes<property<key::block_sparse, Q, K, A...>> =
    each_once<A...>() && ((A == axis_name::batch || A == axis_name::head) && ...);
template <class Tag, auto E, auto... A> inline constexpr bool has_score_axes<property<key::input<Tag>, E, A...>> =
    sizeof...(A) > 0 && each_once<A...>();
template <auto E> inline constexpr bool is_storable<property<key::additive, E>> = true;
template <auto E, auto... A> inline constexpr bool is_storable<property<key::additive, E, A...>> =
    is_storable<property<key::element, E>>;

/// The names of a call's own tensors and numbers (dsl/signature.hpp). The spec's inputs stand beside them, so they need others.
template <class Tag> constexpr bool is_free_name() {
  for (const std::string_view taken : {"query", "key", "value", "hidden", "context", "weights", "output", "lse",
                                       "attention_weights", "scaled_scores", "capped_scores", "masked_scores", "boolean_mask", "additive_mask", "sinks", "key_lengths",
                                       "key_scale", "value_scale", "page_table", "position_offsets", "cos_table", "sin_table", "scale", "softcap", "window", "window_right", "sigmoid_bias",
                                       "prefix_lengths", "documents", "query_documents", "key_documents", "sequence_offsets", "query_offsets", "key_offsets", "block_table",
                                       "alibi_slopes", "bias_table"})
    if (short_name<Tag>::last == taken) return false;
  return true;
}
template <class P> inline constexpr std::string_view input_name = "";
template <class Tag, auto... V> inline constexpr std::string_view input_name<property<key::input<Tag>, V...>> =
    short_name<Tag>::last;
template <class P, class... All> inline constexpr bool has_own_name = true;
template <class Tag, auto... V, class... All> inline constexpr bool has_own_name<property<key::input<Tag>, V...>, All...> =
    is_free_name<Tag>() && (0 + ... + int(input_name<All> == short_name<Tag>::last)) == 1;

/// As many inputs as fit beside a call's own tensors (signature.hpp), mask tensors not counted.
inline constexpr int most_inputs = 6;

// ---- the rules

namespace rules {
template <class T> inline constexpr bool made_of_properties = std::is_same_v<T, none>;
template <class Key> inline constexpr bool given_once = std::is_same_v<Key, none>;
template <class Stage, class Key, class Home> inline constexpr bool stage_takes = std::is_same_v<Key, none>;
template <class Stage, class Key> inline constexpr bool stage_has = std::is_same_v<Key, none>;
template <class P> inline constexpr bool at_least_one = std::is_same_v<P, none>;
template <class P, int Most> inline constexpr bool head_is_not_larger = std::is_same_v<P, none>;
template <class P> inline constexpr bool element_is_float = std::is_same_v<P, none>;
template <class P> inline constexpr bool kv_element_is_known = std::is_same_v<P, none>;
template <class P> inline constexpr bool scale_beside_8_bits = std::is_same_v<P, none>;
template <class P> inline constexpr bool page_is_power_of_two = std::is_same_v<P, none>;
template <class Key, class Other> inline constexpr bool not_beside = std::is_same_v<Key, none>;
template <class P> inline constexpr bool positive_factor = std::is_same_v<P, none>;
template <class Positions, class ModelDim> inline constexpr bool even_for_positions = std::is_same_v<Positions, none>;
template <class P> inline constexpr bool features_in_pairs = std::is_same_v<P, none>;
template <class P> inline constexpr bool window_counts_keys = std::is_same_v<P, none>;
template <class P> inline constexpr bool has_slopes = std::is_same_v<P, none>;
template <class P> inline constexpr bool has_buckets = std::is_same_v<P, none>;
template <class P> inline constexpr bool any_number = std::is_same_v<P, none>;
template <class P> inline constexpr bool each_axis_once = std::is_same_v<P, none>;
template <class P> inline constexpr bool name_of_its_own = std::is_same_v<P, none>;
template <int Inputs> inline constexpr bool few_enough_inputs = Inputs <= most_inputs;
template <class Key, class Needed> inline constexpr bool property_beside = std::is_same_v<Key, none>;
template <class KvHeads, class Heads> inline constexpr bool divides = false;
template <int K, int H> inline constexpr bool divides<property<key::kv_heads, K>, property<key::heads, H>> = H % K == 0;
template <> inline constexpr bool divides<none, none> = true;

template <class Form, class T> inline constexpr bool form_takes = std::is_same_v<T, none>;
template <class F> inline constexpr bool takes_score_and_at = std::is_same_v<F, none>;
template <class F> inline constexpr bool takes_at = std::is_same_v<F, none>;
template <class F> inline constexpr bool reads_symbols = std::is_same_v<F, none>;
template <class F> inline constexpr bool returns_a_score = std::is_same_v<F, none>;
template <class F> inline constexpr bool returns_a_condition = std::is_same_v<F, none>;
template <class Tag> inline constexpr bool declared_input = std::is_same_v<Tag, none>;
template <class Tag, class Axes, class Indices> inline constexpr bool one_index_per_axis = std::is_same_v<Tag, none>;

template <class T> inline constexpr bool is_a_stage = false;
template <class Stage> inline constexpr bool starts_a_spec = false;
template <class Next, class Last> inline constexpr bool only_one_of = Next::where != Last::where;
template <class Next, class Last> inline constexpr bool comes_after = Next::where >= Last::where;
template <class Next, class Last> inline constexpr bool has_weights_before = false;
template <class Next, class Last> inline constexpr bool has_sum_before = false;
template <class Weights, bool AsksForLse> inline constexpr bool lse_exists = !AsksForLse;
template <class Next, class Source> inline constexpr bool starts_with_project = false;
template <class Keys, class Rotation> inline constexpr bool head_has_pairs = true;
template <class Source, class Rotation> inline constexpr bool keys_come_rotated = true;
template <class Keys, class Rotation> inline constexpr bool cached_keys_come_rotated = true;
template <bool SameExtents, bool Unaligned> inline constexpr bool causal_alignment_known = SameExtents || !Unaligned;
} // namespace rules

} // namespace attune::language

// The words that a spec is written with. An element or an axis is an object whose type carries its value, so that it can
// stand both as a template argument (element<f32>) and as a function argument (input<tag>(f32, axis::head)).
#pragma once
#include "dsl/vocabulary.hpp"
#include <type_traits>

namespace attune {

template <auto Value> using constant = std::integral_constant<decltype(Value), Value>;

inline constexpr constant<element_type::f32> f32{};
inline constexpr constant<element_type::f16> f16{};
inline constexpr constant<element_type::bf16> bf16{};
inline constexpr constant<element_type::i32> i32{};
inline constexpr constant<element_type::int8> int8{};
inline constexpr constant<element_type::e4m3> e4m3{};
inline constexpr constant<element_type::e5m2> e5m2{};

namespace axis {
inline constexpr constant<axis_name::batch> batch{};
inline constexpr constant<axis_name::query> query{};
inline constexpr constant<axis_name::key> key{};
inline constexpr constant<axis_name::head> head{};
inline constexpr constant<axis_name::kv_head> kv_head{};
} // namespace axis

using align = causal_alignment;
using causal_alignment::bottom_right;
using causal_alignment::top_left;

enum class scale_rule { rsqrt_head_dim }; ///< 1 / sqrt(head_dim)
enum class decided { runtime };           ///< left to each call
enum class document_marks { ids, offsets };              ///< how packed documents are told apart
enum class distance_direction { bidirectional, unidirectional }; ///< whether keys behind the query's position have buckets of their own
enum class slope_source { slopes };       ///< the call brings them
/// What weighted_sum returns beside the output.
enum class result { lse, weights, scaled_scores, capped_scores, masked_scores };

using enum scale_rule;
using enum decided;
using enum result;
using enum document_marks;
using enum distance_direction;
using enum slope_source;
using empty_row_policy::zero; // its other value stays empty_row_policy::error: attune::error is the exception
using enum masked_value_policy;
using kv_scaling::per_head;
using kv_scaling::per_token;
using enum rotary_pairing;
using enum tensor_layout;

} // namespace attune

// What the emitter writes for one spec, kept here so that these programs need no emitted library.
#pragma once
#include "runtime/artefact.hpp"

struct masked_attention;

namespace attune {

template <> struct artefact<::masked_attention> {
  static constexpr numbers n{
      element_type::f32, // element
      source_kind::operands, // source
      8, 2, // heads, kv_heads
      64, 128, // head_dim, value_dim
      0, 0, 0, // model_dim, context_dim, output_dim
      false, false, // projection_bias, output_bias
      false, // same_extents
      {setting::at_call, 0.125}, // scale
      {setting::off, 0}, // softcap
      causal_alignment::off, // causal
      {setting::off, 0}, // window
      false, // key_lengths
      empty_row_policy::zero, // empty_rows
      masked_value_policy::finite, // masked_values
      tensor_layout::bhsd, // layout
      false, false, // returns_lse, returns_weights
      {false, element_type::f32, kv_scaling::off, 0}, // cache: own_element, element, scale, page_size
      {setting::off, 0}, // window_right
      0, 0, 0, // query_block, key_block, bias_buckets
      {}, // rope
      0, // sinusoidal_theta
      false, // sinks
      weighting::softmax, // weights
      {setting::off, 0}, // sigmoid_bias
      false, false, false, // returns_scaled_scores, returns_capped_scores, returns_masked_scores
  };
  static constexpr signature call{
      5, { // tensors: name, role, element, written, innermost_contiguous, rank, axes
       {"query", tensor_role::query, element_type::f32, false, true, 4, {{axis_name::batch, dynamic_extent}, {axis_name::head, 8}, {axis_name::query, dynamic_extent}, {axis_name::head_dim, 64}}},
       {"key", tensor_role::key, element_type::f32, false, true, 4, {{axis_name::batch, dynamic_extent}, {axis_name::kv_head, 2}, {axis_name::key, dynamic_extent}, {axis_name::head_dim, 64}}},
       {"value", tensor_role::value, element_type::f32, false, true, 4, {{axis_name::batch, dynamic_extent}, {axis_name::kv_head, 2}, {axis_name::key, dynamic_extent}, {axis_name::value_dim, 128}}},
       {"output", tensor_role::output, element_type::f32, true, true, 4, {{axis_name::batch, dynamic_extent}, {axis_name::head, 8}, {axis_name::query, dynamic_extent}, {axis_name::value_dim, 128}}},
       {"allowed", tensor_role::boolean_mask, element_type::boolean, false, false, 2, {{axis_name::batch, dynamic_extent}, {axis_name::key, dynamic_extent}}}},
      1, {number_role::scale}};
  enum class argument { query, key, value, output, allowed, scale };
  static constexpr const char *hash = "0a63d2e7714c9f58";
  static const artefact_info &info();
};

} // namespace attune

// What the emitter writes for one spec, kept here so that these programs need no emitted library.
#pragma once
#include "runtime/artefact.hpp"

struct gpt2;

namespace attune {

template <> struct artefact<::gpt2> {
  static constexpr numbers n{
      element_type::f32, // element
      source_kind::operands, // source
      12, 12, // heads, kv_heads
      64, 64, // head_dim, value_dim
      0, 0, 0, // model_dim, context_dim, output_dim
      false, false, // projection_bias, output_bias
      false, // same_extents
      {setting::fixed, 0.125}, // scale
      {setting::off, 0}, // softcap
      causal_alignment::bottom_right, // causal
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
      4, { // tensors: name, role, element, written, innermost_contiguous, rank, axes
       {"query", tensor_role::query, element_type::f32, false, true, 4, {{axis_name::batch, dynamic_extent}, {axis_name::head, 12}, {axis_name::query, dynamic_extent}, {axis_name::head_dim, 64}}},
       {"key", tensor_role::key, element_type::f32, false, true, 4, {{axis_name::batch, dynamic_extent}, {axis_name::kv_head, 12}, {axis_name::key, dynamic_extent}, {axis_name::head_dim, 64}}},
       {"value", tensor_role::value, element_type::f32, false, true, 4, {{axis_name::batch, dynamic_extent}, {axis_name::kv_head, 12}, {axis_name::key, dynamic_extent}, {axis_name::value_dim, 64}}},
       {"output", tensor_role::output, element_type::f32, true, true, 4, {{axis_name::batch, dynamic_extent}, {axis_name::head, 12}, {axis_name::query, dynamic_extent}, {axis_name::value_dim, 64}}}},
      0, {}};
  enum class argument { query, key, value, output };
  static constexpr const char *hash = "7d1f09c2a4b8e653";
  static const artefact_info &info();
};

} // namespace attune

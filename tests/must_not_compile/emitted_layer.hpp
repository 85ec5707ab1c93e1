// What the emitter writes for one spec, kept here so that these programs need no emitted library.
#pragma once
#include "runtime/artefact.hpp"

struct layer;

namespace attune {

template <> struct artefact<::layer> {
  static constexpr numbers n{
      element_type::bf16, // element
      source_kind::projection, // source
      12, 12, // heads, kv_heads
      32, 32, // head_dim, value_dim
      384, 0, 384, // model_dim, context_dim, output_dim
      true, true, // projection_bias, output_bias
      true, // same_extents
      {setting::fixed, 0.125}, // scale
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
      3, { // tensors: name, role, element, written, innermost_contiguous, rank, axes
       {"hidden", tensor_role::hidden, element_type::bf16, false, true, 3, {{axis_name::batch, dynamic_extent}, {axis_name::query, dynamic_extent}, {axis_name::model_dim, 384}}},
       {"weights", tensor_role::packed_weights, element_type::bf16, false, false, 0, {}},
       {"output", tensor_role::output, element_type::bf16, true, true, 3, {{axis_name::batch, dynamic_extent}, {axis_name::query, dynamic_extent}, {axis_name::model_dim, 384}}}},
      0, {}};
  enum class argument { hidden, weights, output };
  static constexpr const char *hash = "c5520b9e18f7d346";
  static const artefact_info &info();
};

} // namespace attune

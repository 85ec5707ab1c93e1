// What a spec says in numbers: the flat form of a chain of stages. C++17, no Hana, no Halide.
// The language (dsl/chain.hpp) collapses every chain to this; everything behind the language reads only this.
#pragma once
#include "dsl/vocabulary.hpp"

namespace attune {

/// A number that a spec may leave out (off), write down (fixed) or leave to the call (at_call).
struct setting {
  enum kind_type { off, fixed, at_call };
  kind_type kind = off;
  double value = 0;
};

/// Where an operator's query, key and value come from.
enum class source_kind {
  operands,        ///< query, key and value are arguments
  projection,      ///< all three are projected from `hidden`
  cross_projection ///< query from `hidden`, key and value from `context`
};

/// How keys and values are stored, where they come from a cache.
struct cache_form {
  bool own_element = false;                ///< not stored as the query is
  element_type element = element_type::f32; ///< if own_element
  kv_scaling scale = kv_scaling::off;      ///< f32 factors of the stored keys and values: tensors key_scale and value_scale
  int page_size = 0;                       ///< keys of a page; 0: keys lie in one tensor
};

/// Rotary embedding of queries and keys: of the first `dims` features of a head, pair i at position p turns by p theta^(-2 i / dims).
struct rotary_embedding {
  int dims = 0;                                     ///< even; 0: no such embedding
  double theta = 10000;
  rotary_pairing pairing = rotary_pairing::half;
  bool angle_tables = false;                        ///< the call gives cosines and sines: cos_table, sin_table
  bool position_offsets = false;                    ///< one i32 per batch is added to the positions
  bool keys_rotated = false;                        ///< keys come rotated: queries alone are
};

struct numbers {
  element_type element = element_type::f32;
  source_kind source = source_kind::operands;
  int heads = 0, kv_heads = 0;        ///< query head h reads kv head h / (heads / kv_heads)
  int head_dim = 0, value_dim = 0;
  int model_dim = 0;                  ///< projection: features of `hidden`; 0 for operands
  int context_dim = 0;                ///< cross_projection: features of `context`
  int output_dim = 0;                 ///< features after project_out; 0 without that stage
  bool projection_bias = false, output_bias = false;
  bool same_extents = false;          ///< query and key extents are equal by construction
  setting scale{setting::fixed, 1.0}; ///< multiplies query . key; never off
  setting softcap;                    ///< c: score := c tanh(score / c), before the score functions and the masks
  causal_alignment causal = causal_alignment::off;
  setting window;                     ///< w: a query attends to its own position and w keys before it
  bool key_lengths = false;           ///< one i32 per batch: keys from there on are masked and never read
  empty_row_policy empty_rows = empty_row_policy::zero;
  masked_value_policy masked_values = masked_value_policy::finite;
  tensor_layout layout = tensor_layout::bhsd;
  bool returns_lse = false;           ///< natural log of the sum of exp(score), f32 [batch, head, query]
  bool returns_weights = false;       ///< softmax weights, f32 [batch, head, query, key]
  cache_form cache;
  setting window_right;               ///< w: a query attends to at most w keys behind its own position
  int query_block = 0, key_block = 0; ///< queries and keys of a block of the block table; 0: there is none
  int bias_buckets = 0;               ///< of the relative bias
  rotary_embedding rope;
  double sinusoidal_theta = 0;        ///< hidden states get sines and cosines of position x theta^(-2 i / model_dim) added; 0: they do not
  bool sinks = false;                 ///< each head's denominator has one more term exp(sink), an f32 [head] of the call, without a value
  weighting weights = weighting::softmax;
  setting sigmoid_bias;               ///< added to each score before the sigmoid
  /// The scores themselves, f32 [batch, head, query, key]: scale * query . key; after softcap; after score functions, additive masks
  /// and masks (-inf).
  bool returns_scaled_scores = false, returns_capped_scores = false, returns_masked_scores = false;
};

constexpr bool returns_scores(const numbers &n) { return n.returns_scaled_scores || n.returns_capped_scores || n.returns_masked_scores; }
constexpr bool is_projected(const numbers &n) { return n.source != source_kind::operands; }
constexpr bool is_paged(const numbers &n) { return n.cache.page_size > 0; }
/// How key and value are stored.
constexpr element_type cache_element(const numbers &n) { return n.cache.own_element ? n.cache.element : n.element; }

/// Whether query i of Sq stands at position i + Skv - Sq among Skv keys (of its batch's or document's length); else it stands at i.
constexpr bool aligned_to_end(const numbers &n) {
  return n.causal == causal_alignment::bottom_right || n.causal == causal_alignment::at_length || (n.causal == causal_alignment::off && !n.same_extents);
}

} // namespace attune

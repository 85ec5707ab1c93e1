// The scalar reference: what a spec means, in double precision, one element after the other. No Halide, no vectors.
// It rounds only where an operator stores: projected query, key and value, packed weights, and the attention output that
// project_out reads. The final output is left unrounded.
//
// Order of what happens to a score: scale, softcap, score functions, additive masks, masks.
// Scores are returned after the scale, after the softcap, and after all masks (-inf where masked). Of keys past a batch's length,
// which are never read, the first two are 0.
//
// An additive mask below -6e29 counts as -6e29 (-inf masks), so that rows of hugely negative masks still average equally.
//
// Diagonals. A query stands at position query + (keys - queries) under bottom_right alignment and without causal, and at
// position query under top_left. Causal allows keys up to the position, a window w keys from position - w on, a
// right window w keys up to position + w, a prefix keys before its length whatever causal says. Documents by offsets: a query
// sees its own document's keys, and the alignment is that of its queries to its keys. `keys` is the extent of the tensors; under at_length it is the batch's key length.
//
// Stored keys and values are what their codes say, times their scales. Pages are put together first: [batch, kv_head, key, dim].
#pragma once
#include "dsl/reference/reference_operator.hpp"
#include <cstdint>
#include <vector>

namespace attune {

/// A dense array of doubles, axes outermost first, the last one contiguous.
struct scalar_tensor {
  std::vector<std::int64_t> extents;
  std::vector<double> values;

  scalar_tensor() = default;
  explicit scalar_tensor(std::vector<std::int64_t> extents_, double fill = 0);
  std::int64_t offset_of(const std::vector<std::int64_t> &indices) const;
  double &operator()(const std::vector<std::int64_t> &indices) { return values[offset_of(indices)]; }
  double operator()(const std::vector<std::int64_t> &indices) const { return values[offset_of(indices)]; }
};

/// y = x W + b, with W [feature in, feature out] and b [feature out], as pack_weights takes them (f32). b may be empty.
struct linear_map {
  std::int64_t inputs = 0, outputs = 0;
  std::vector<float> matrix, bias;
};

/// The arguments of a call. Tensors hold what the call's memory holds, already rounded to its element; axes as in the
/// spec's signature, batch included. Only those that the spec has need be set.
struct reference_arguments {
  scalar_tensor query, key, value;                                         ///< operands
  scalar_tensor hidden, context;                                           ///< projections
  const linear_map *query_projection = nullptr, *key_projection = nullptr, *value_projection = nullptr, *output_projection = nullptr;
  std::vector<scalar_tensor> inputs;                                       ///< in the order of the spec's declarations
  scalar_tensor key_scale, value_scale, page_table;                        ///< caches
  std::vector<std::int64_t> position_offsets;                              ///< one per batch
  scalar_tensor cos_table, sin_table;                                      ///< [batch, position, pair]
  std::vector<std::int64_t> key_lengths;                                   ///< one per batch
  double scale = 1, softcap = 0, window = 0, window_right = 0, sigmoid_bias = 0;                               ///< where the spec leaves them to the call
};

/// The place of one of the call's numbers.
inline double &number_of(reference_arguments &a, number_role role) {
  switch (role) {
    case number_role::scale: return a.scale;
    case number_role::softcap: return a.softcap;
    case number_role::window: return a.window;
    case number_role::window_right: return a.window_right;
    case number_role::sigmoid_bias: return a.sigmoid_bias;
  }
  return a.scale;
}

struct reference_answer {
  scalar_tensor output;          ///< [batch, head, query, value_dim], or [batch, query, model_dim] after project_out
  scalar_tensor lse;             ///< [batch, head, query], natural log; -inf for an empty row
  scalar_tensor weights;         ///< [batch, head, query, key], only for specs that return them
  scalar_tensor scaled_scores, capped_scores, masked_scores; ///< the same, as far as they are returned
  double largest_value = 0;      ///< max |V| over the finite values: with largest_total the unit of the error bounds
  double largest_total = 1;      ///< the largest sum of a row's weights, at least 1: more only under sigmoid
  double largest_score = 1;      ///< max(1, max |score|) over the finite scores that are returned
  bool has_empty_row = false;    ///< some query may attend to no key
};

reference_answer evaluate_reference(const reference_operator &op, const reference_arguments &arguments);

/// x as `element` stores it: nearest, ties to even; too large gives infinity.
/// e4m3 and e5m2 end at their largest number instead; int8 is the nearest whole number from -127 to 127.
double round_to(element_type element, double x);

} // namespace attune

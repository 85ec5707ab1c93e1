// The tensors and numbers of a call, in order: one contract between pipeline, emitter, wrapper and C ABI. C++17.
//
// Order of arguments, everywhere:
//   operands    query, key, value, output
//   projection  hidden, [context,] weights, output
//   then lse, attention weights, scaled, capped, masked scores (if returned), the spec's own inputs in the order written (user inputs,
//   boolean and additive masks, sinks), key_scale, value_scale, page_table, position_offsets, cos_table, sin_table, key_lengths, and the run-time
//   numbers scale, softcap, window, window_right, sigmoid_bias.
#pragma once
#include "dsl/numbers.hpp"

namespace attune {

inline constexpr int dynamic_extent = -1; ///< known only at the call
inline constexpr int maximum_rank = 6;
inline constexpr int maximum_tensors = 39;
inline constexpr int maximum_numbers = 8;

/// What a tensor is for. `packed_weights` is opaque: it has no axes here, and is made by pack_weights.
enum class tensor_role { query, key, value, hidden, context, packed_weights, output, lse, attention_weights, input, boolean_mask, additive_mask, key_lengths, key_scale, value_scale, page_table, prefix_lengths, query_offsets, key_offsets,
                         position_offsets, cos_table, sin_table, sinks, scaled_scores, capped_scores, masked_scores };

struct axis_extent {
  axis_name axis = axis_name::none;
  int extent = dynamic_extent;
};

/// One tensor of a call. Axes outermost first, in the one order that all generated code uses, whatever the caller's
/// strides are; the last axis of query, key, value, hidden, context and output is contiguous. Batch may be left out.
struct tensor_shape {
  const char *name = "";
  tensor_role role = tensor_role::input;
  element_type element = element_type::f32;
  bool written = false;
  bool innermost_contiguous = false;
  int rank = 0;
  axis_extent axes[maximum_rank] = {};
};

enum class number_role { scale, softcap, window, window_right, sigmoid_bias };
constexpr const char *name_of(number_role r) {
  constexpr const char *names[] = {"scale", "softcap", "window", "window_right", "sigmoid_bias"};
  return names[static_cast<int>(r)];
}

/// Whether a number is a whole one: i32 in generated code, else f32.
constexpr bool is_whole(number_role r) { return r == number_role::window || r == number_role::window_right; }

struct signature {
  int tensor_count = 0;
  tensor_shape tensors[maximum_tensors] = {};
  int number_count = 0;
  number_role call_numbers[maximum_numbers] = {};
};

/// An input that the spec declares: a user's tensor, a boolean mask (1 = attend), an additive mask (-inf = masked), or sinks.
struct input_declaration {
  const char *name = "";
  tensor_role role = tensor_role::input;
  element_type element = element_type::f32;
  int rank = 0;
  axis_name axes[maximum_rank] = {};
};

/// The place of the first input of this role, or -1.
template <class Declarations> constexpr int input_of(const Declarations &inputs, tensor_role role) {
  int i = 0;
  for (const input_declaration &input : inputs)
    if (input.role == role) return i;
    else ++i;
  return -1;
}

/// The extent that a spec fixes for an axis, or dynamic_extent.
constexpr int extent_of(const numbers &n, axis_name a) {
  switch (a) {
    case axis_name::head: return n.heads;
    case axis_name::kv_head: return n.kv_heads;
    case axis_name::head_dim: return n.head_dim;
    case axis_name::value_dim: return n.value_dim;
    case axis_name::slot: return n.cache.page_size;
    case axis_name::bucket: return n.bias_buckets;
    case axis_name::rotary_pair: return n.rope.dims / 2;
    default: return dynamic_extent;
  }
}

namespace detail {
constexpr tensor_shape shape(const char *name, tensor_role role, element_type e, bool written, int rank, axis_extent a, axis_extent b, axis_extent c,
                             axis_extent d = {}) {
  return {name, role, e, written, true, rank, {a, b, c, d}};
}
constexpr axis_extent axis_of(const numbers &n, axis_name a) { return {a, extent_of(n, a)}; }
} // namespace detail

/// A stored key or value: [batch, kv_head, key, dim], or in pages [page, kv_head, slot, dim].
constexpr tensor_shape kv_shape(const numbers &n, const char *name, tensor_role role, axis_name dim) {
  using detail::axis_of;
  const bool paged = is_paged(n);
  return detail::shape(name, role, cache_element(n), false, 4, axis_of(n, paged ? axis_name::page : axis_name::batch), axis_of(n, axis_name::kv_head),
                       axis_of(n, paged ? axis_name::slot : axis_name::key), axis_of(n, dim));
}
/// Its scale: [kv_head], or the axes of the stored tensor but for the last.
constexpr tensor_shape kv_scale_shape(const numbers &n, const char *name, tensor_role role) {
  tensor_shape s = kv_shape(n, name, role, axis_name::none);
  s.element = element_type::f32, s.innermost_contiguous = false, s.rank = 3;
  s.axes[3] = {};
  if (n.cache.scale == kv_scaling::per_head) s.rank = 1, s.axes[0] = s.axes[1], s.axes[1] = s.axes[2] = {};
  return s;
}

/// The signature of a spec with these numbers and these declared inputs.
constexpr signature signature_of(const numbers &n, const input_declaration *inputs, int input_count) {
  using detail::axis_of, detail::shape;
  signature s{};
  const auto add = [&s](tensor_shape t) { s.tensors[s.tensor_count++] = t; };
  const axis_extent batch = axis_of(n, axis_name::batch), query = axis_of(n, axis_name::query), key = axis_of(n, axis_name::key);
  const axis_extent head = axis_of(n, axis_name::head);
  const axis_extent head_dim = axis_of(n, axis_name::head_dim), value_dim = axis_of(n, axis_name::value_dim);
  if (is_projected(n)) {
    add(shape("hidden", tensor_role::hidden, n.element, false, 3, batch, query, {axis_name::model_dim, n.model_dim}));
    if (n.source == source_kind::cross_projection)
      add(shape("context", tensor_role::context, n.element, false, 3, batch, key, {axis_name::model_dim, n.context_dim}));
    add({"weights", tensor_role::packed_weights, n.element, false, false, 0, {}});
  } else {
    add(shape("query", tensor_role::query, n.element, false, 4, batch, head, query, head_dim));
    add(kv_shape(n, "key", tensor_role::key, axis_name::head_dim));
    add(kv_shape(n, "value", tensor_role::value, axis_name::value_dim));
  }
  if (n.output_dim > 0) add(shape("output", tensor_role::output, n.element, true, 3, batch, query, {axis_name::model_dim, n.output_dim}));
  else add(shape("output", tensor_role::output, n.element, true, 4, batch, head, query, value_dim));
  if (n.returns_lse) add(shape("lse", tensor_role::lse, element_type::f32, true, 3, batch, head, query));
  const auto add_scores = [&](bool returned, const char *name, tensor_role role) {
    if (returned) add(shape(name, role, element_type::f32, true, 4, batch, head, query, key));
  };
  add_scores(n.returns_weights, "attention_weights", tensor_role::attention_weights);
  add_scores(n.returns_scaled_scores, "scaled_scores", tensor_role::scaled_scores);
  add_scores(n.returns_capped_scores, "capped_scores", tensor_role::capped_scores);
  add_scores(n.returns_masked_scores, "masked_scores", tensor_role::masked_scores);
  for (int i = 0; i < input_count; ++i) {
    tensor_shape t{inputs[i].name, inputs[i].role, inputs[i].element, false, false, inputs[i].rank, {}};
    for (int a = 0; a < inputs[i].rank; ++a) t.axes[a] = axis_of(n, inputs[i].axes[a]);
    add(t);
  }
  if (n.cache.scale != kv_scaling::off) {
    add(kv_scale_shape(n, "key_scale", tensor_role::key_scale));
    add(kv_scale_shape(n, "value_scale", tensor_role::value_scale));
  }
  if (is_paged(n)) add({"page_table", tensor_role::page_table, element_type::i32, false, false, 2, {batch, {axis_name::sequence_page, dynamic_extent}}});
  if (n.rope.position_offsets) add({"position_offsets", tensor_role::position_offsets, element_type::i32, false, false, 1, {batch}});
  if (n.rope.angle_tables) {
    const axis_extent position = axis_of(n, axis_name::position), pair = axis_of(n, axis_name::rotary_pair);
    add(shape("cos_table", tensor_role::cos_table, element_type::f32, false, 3, batch, position, pair));
    add(shape("sin_table", tensor_role::sin_table, element_type::f32, false, 3, batch, position, pair));
  }
  if (n.key_lengths) add({"key_lengths", tensor_role::key_lengths, element_type::i32, false, false, 1, {batch}});
  if (n.scale.kind == setting::at_call) s.call_numbers[s.number_count++] = number_role::scale;
  if (n.softcap.kind == setting::at_call) s.call_numbers[s.number_count++] = number_role::softcap;
  if (n.window.kind == setting::at_call) s.call_numbers[s.number_count++] = number_role::window;
  if (n.window_right.kind == setting::at_call) s.call_numbers[s.number_count++] = number_role::window_right;
  if (n.sigmoid_bias.kind == setting::at_call) s.call_numbers[s.number_count++] = number_role::sigmoid_bias;
  return s;
}

} // namespace attune

// A library as the emitter makes one, with kernels written by hand: they record how they were called and compute something
// trivial, so that the runtime is tested apart from generated code.
#pragma once
#include "HalideRuntime.h"
#include "runtime/kernel.hpp"
#include "runtime/library.hpp"
#include <atomic>
#include <vector>

namespace fake {
struct plain;    ///< 4 query heads on 2 kv heads, head_dim 3, value_dim 2, LSE and attention weights
struct masked;   ///< two masks, key lengths, all three numbers at the call
struct strict;   ///< causal and window 2, key lengths, empty rows are an error
struct layer;    ///< bf16, projections with biases
struct crossed;  ///< f32, cross-attention with an output projection and its bias
struct elsewhere; ///< built for the other architecture and for CUDA only
struct stale;    ///< its header's hash is not the library's
struct by_length; ///< a kernel for each length bucket; 4 query heads on 2 kv heads, so that 4 queries decode
struct guided;   ///< causal; documents by offsets, prefixes, a block table, rotary embeddings by tables with offsets, key lengths
struct paged;    ///< pages of 4 keys in int8 with a scale for each, key lengths, attention weights; empty rows are an error
} // namespace fake

namespace attune {
namespace fakes {
constexpr numbers plain_numbers() {
  numbers n{};
  n.heads = 4, n.kv_heads = 2, n.head_dim = 3, n.value_dim = 2;
  n.returns_lse = n.returns_weights = true;
  return n;
}
constexpr numbers by_length_numbers() {
  numbers n = plain_numbers();
  n.returns_lse = n.returns_weights = false;
  return n;
}
constexpr numbers masked_numbers() {
  numbers n = by_length_numbers();
  n.layout = tensor_layout::bshd;
  n.key_lengths = true;
  n.scale.kind = n.softcap.kind = n.window.kind = setting::at_call;
  return n;
}
constexpr numbers strict_numbers() {
  numbers n = plain_numbers();
  n.returns_lse = n.returns_weights = false;
  n.key_lengths = true;
  n.causal = causal_alignment::bottom_right;
  n.window = {setting::fixed, 2};
  n.empty_rows = empty_row_policy::error;
  return n;
}
constexpr numbers layer_numbers() {
  numbers n{};
  n.element = element_type::bf16;
  n.source = source_kind::projection;
  n.heads = 4, n.kv_heads = 2, n.head_dim = 3, n.value_dim = 2, n.model_dim = 5, n.output_dim = 7;
  n.projection_bias = n.output_bias = n.same_extents = true;
  return n;
}
constexpr numbers crossed_numbers() {
  numbers n = layer_numbers();
  n.element = element_type::f32;
  n.source = source_kind::cross_projection;
  n.context_dim = 6;
  n.projection_bias = n.same_extents = false;
  n.returns_lse = true;
  return n;
}
constexpr numbers guided_numbers() {
  numbers n = by_length_numbers();
  n.causal = causal_alignment::bottom_right;
  n.key_lengths = true;
  n.query_block = n.key_block = 2;
  n.rope.dims = 2;
  n.rope.angle_tables = n.rope.position_offsets = true;
  return n;
}
constexpr numbers paged_numbers() {
  numbers n{};
  n.heads = 2, n.kv_heads = 1, n.head_dim = 3, n.value_dim = 3;
  n.causal = causal_alignment::at_length;
  n.empty_rows = empty_row_policy::error;
  n.key_lengths = n.returns_weights = true;
  n.cache = {true, element_type::int8, kv_scaling::per_token, 4};
  return n;
}
inline constexpr input_declaration guides[] = {{"query_offsets", tensor_role::query_offsets, element_type::i32, 1, {axis_name::offset}},
                                               {"key_offsets", tensor_role::key_offsets, element_type::i32, 1, {axis_name::offset}},
                                               {"prefix_lengths", tensor_role::prefix_lengths, element_type::i32, 1, {axis_name::batch}},
                                               {"block_table", tensor_role::input, element_type::boolean, 3, {axis_name::batch, axis_name::query_block, axis_name::key_block}}};
inline constexpr input_declaration masks[] = {{"allowed", tensor_role::boolean_mask, element_type::boolean, 2, {axis_name::batch, axis_name::key}},
                                              {"bias", tensor_role::additive_mask, element_type::f32, 2, {axis_name::query, axis_name::key}}};
} // namespace fakes

template <> struct artefact<fake::plain> {
  static constexpr numbers n = fakes::plain_numbers();
  static constexpr signature call = signature_of(n, nullptr, 0);
  static constexpr const char *hash = "1111111111111111";
  static const artefact_info &info();
};
template <> struct artefact<fake::masked> {
  static constexpr numbers n = fakes::masked_numbers();
  static constexpr signature call = signature_of(n, fakes::masks, 2);
  static constexpr const char *hash = "2222222222222222";
  static const artefact_info &info();
};
template <> struct artefact<fake::strict> {
  static constexpr numbers n = fakes::strict_numbers();
  static constexpr signature call = signature_of(n, nullptr, 0);
  static constexpr const char *hash = "3333333333333333";
  static const artefact_info &info();
};
template <> struct artefact<fake::layer> {
  static constexpr numbers n = fakes::layer_numbers();
  static constexpr signature call = signature_of(n, nullptr, 0);
  static constexpr const char *hash = "4444444444444444";
  static const artefact_info &info();
};
template <> struct artefact<fake::crossed> {
  static constexpr numbers n = fakes::crossed_numbers();
  static constexpr signature call = signature_of(n, nullptr, 0);
  static constexpr const char *hash = "5555555555555555";
  static const artefact_info &info();
};
template <> struct artefact<fake::elsewhere> {
  static constexpr numbers n = fakes::plain_numbers();
  static constexpr signature call = signature_of(n, nullptr, 0);
  static constexpr const char *hash = "6666666666666666";
  static const artefact_info &info();
};
template <> struct artefact<fake::stale> {
  static constexpr numbers n = fakes::plain_numbers();
  static constexpr signature call = signature_of(n, nullptr, 0);
  static constexpr const char *hash = "7777777777777777";
  static const artefact_info &info();
};
template <> struct artefact<fake::by_length> {
  static constexpr numbers n = fakes::by_length_numbers();
  static constexpr signature call = signature_of(n, nullptr, 0);
  static constexpr const char *hash = "9999999999999999";
  static const artefact_info &info();
};
template <> struct artefact<fake::guided> {
  static constexpr numbers n = fakes::guided_numbers();
  static constexpr signature call = signature_of(n, fakes::guides, 4);
  static constexpr const char *hash = "aaaaaaaaaaaaaaaa";
  static const artefact_info &info();
};
template <> struct artefact<fake::paged> {
  static constexpr numbers n = fakes::paged_numbers();
  static constexpr signature call = signature_of(n, nullptr, 0);
  static constexpr const char *hash = "bbbbbbbbbbbbbbbb";
  static const artefact_info &info();
};
} // namespace attune

namespace fake {

struct recorded_buffer {
  void *host;
  halide_type_t type;
  std::vector<halide_dimension_t> axes;
};
/// The last call of any kernel here.
struct recording {
  int calls = 0;
  attune::target_id target = attune::target_id::avx2;
  std::vector<recorded_buffer> read, written;
  std::vector<float> reals;
  std::vector<std::int32_t> integers;
  int threads = 0;
  int kernel = 0; ///< its place among those of its variant
};
recording last();
void forget();

/// What the kernels do from now on: return this code, after reporting this text.
void fail_with(int code, const char *text);

/// The best and the least CPU target that this machine runs, of those that `plain` is built for, and one that it cannot run.
attune::target_id best_target();
attune::target_id least_target();
attune::target_id foreign_target();

} // namespace fake

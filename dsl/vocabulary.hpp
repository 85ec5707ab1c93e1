// The words of the language as plain enumerations, and their names in text. C++17, no Hana, no Halide:
// the language, the pipeline, the emitted headers and the runtime all include this file.
#pragma once
#include <cstddef>

namespace attune {

/// How an element is stored. Arithmetic is always f32; f16 and bf16 round where a tensor is stored. e4m3 and e5m2 are the 8-bit floats
/// of the OCP specification (OFP8, 2023): e4m3 has no infinity, one NaN for each sign, and 448 as its largest number.
enum class element_type { f32, f16, bf16, boolean, i32, int8, e4m3, e5m2 };
inline constexpr int element_type_count = 8;

/// The named axes of every tensor that Attune knows.
/// page: a page of a paged cache; slot: a key's place in its page; sequence_page: the pages of one sequence, in order.
/// query_block, key_block: blocks of queries and keys; bucket: a class of distances; offset: where packed sequences begin, and the end;
/// rotary_pair: two features of a head that turn together.
enum class axis_name { none, batch, query, key, head, kv_head, head_dim, value_dim, model_dim, page, slot, sequence_page, query_block, key_block, bucket, offset, position, rotary_pair };
inline constexpr int axis_name_count = 18;

/// Where the last query stands relative to the keys: bottom_right lines it up with the last key,
/// top_left lines up the first query with the first key, at_length the last query with the last key of the batch's key length.
/// `diagonal`: both extents are the same by construction.
enum class causal_alignment { off, diagonal, bottom_right, top_left, at_length };

/// What a stored key or value is multiplied by: nothing, one factor for each key head, or one for each key of each key head.
enum class kv_scaling { off, per_head, per_token };

/// How scores become weights: normalised over a row's keys, or each by itself.
enum class weighting { softmax, sigmoid };

/// What a row with no allowed key gives: output 0 and LSE -inf, or the call fails with `empty_row`.
enum class empty_row_policy { zero, error };

/// Whether V may hold NaN or infinity at masked keys. `finite` is faster: 0 x NaN leaks inside a partly masked tile.
enum class masked_value_policy { finite, anything };

/// Order of the axes of query, key, value and output in the C ABI, outermost first.
enum class tensor_layout { bhsd, bshd };

/// Which two features of a head turn together under a rotary embedding of N features: i and i + N / 2, or 2 i and 2 i + 1.
enum class rotary_pairing { half, interleaved };

constexpr std::size_t size_of(element_type e) {
  switch (e) {
    case element_type::f32: case element_type::i32: return 4;
    case element_type::f16: case element_type::bf16: return 2;
    case element_type::boolean: case element_type::int8: case element_type::e4m3: case element_type::e5m2: return 1;
  }
  return 0;
}

/// Whether functions read such an element as a whole number.
constexpr bool is_whole(element_type e) { return e == element_type::boolean || e == element_type::i32; }

/// Whether an element is one of the floats that tensors of any kind may be stored in.
constexpr bool is_float(element_type e) { return e == element_type::f32 || e == element_type::f16 || e == element_type::bf16; }

constexpr const char *name_of(element_type e) {
  constexpr const char *names[] = {"f32", "f16", "bf16", "bool", "i32", "int8", "e4m3", "e5m2"};
  return names[static_cast<int>(e)];
}
constexpr const char *name_of(axis_name a) {
  constexpr const char *names[] = {"none", "batch", "query", "key", "head", "kv_head", "head_dim", "value_dim", "model_dim", "page", "slot", "sequence_page", "query_block", "key_block", "bucket", "offset", "position", "rotary_pair"};
  return names[static_cast<int>(a)];
}
constexpr const char *name_of(causal_alignment a) {
  constexpr const char *names[] = {"off", "diagonal", "bottom_right", "top_left", "at_length"};
  return names[static_cast<int>(a)];
}
constexpr const char *name_of(kv_scaling s) {
  constexpr const char *names[] = {"off", "per_head", "per_token"};
  return names[static_cast<int>(s)];
}
constexpr const char *name_of(weighting w) { return w == weighting::softmax ? "softmax" : "sigmoid"; }
constexpr const char *name_of(empty_row_policy p) { return p == empty_row_policy::zero ? "zero" : "error"; }
constexpr const char *name_of(masked_value_policy p) { return p == masked_value_policy::finite ? "finite" : "anything"; }
constexpr const char *name_of(tensor_layout l) { return l == tensor_layout::bhsd ? "bhsd" : "bshd"; }

constexpr const char *name_of(rotary_pairing p) { return p == rotary_pairing::half ? "half" : "interleaved"; }

} // namespace attune

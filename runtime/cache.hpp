// Appending keys and values to a KV cache, contiguous or in pages, stored in any element. C++17; no generated code is called.
//
//   attune::kv_cache cache;
//   cache.key = key_view, cache.value = value_view, cache.key_lengths = lengths_view;   // and scales, page table
//   attune::append(cache, new_key, new_value);                       // throws attune::error
//   attune::status s = attune::try_append(cache, new_key, new_value);
//
//   tensor                  axes, in any order but for the last of key, value, new_key and new_value
//   key, value              [batch, kv_head, key, head_dim or value_dim]; in pages [page, kv_head, slot, head_dim or value_dim]
//   key_lengths             i32 [batch]: the keys that each batch holds; append raises them
//   key_scale, value_scale  f32 [kv_head], which are read; or the axes of key without the last, which are written
//   page_table              i32 [batch, sequence_page]
//   new_key, new_value      f32, f16 or bf16 [batch, kv_head, query, head_dim or value_dim]: the tokens of this step, as its queries are
//   new_lengths             i32 [batch], where batches get different numbers of them: how many of each, and these are the last ones, as
//                           causal<align::at_length> has the last queries at the last keys
//
// Stored codes: int8 is x / scale to the nearest whole number, ties to even, within -127..127; floats round to nearest even; e4m3 and e5m2 end
// at their largest number. A scale that is written is max |x| / largest code (127, 448, 57344) over the features of one key of one head,
// so a NaN or an infinity there makes that key NaN. int8 with a scale for each head cannot store them: such a call is refused.
#pragma once
#include "runtime/status.hpp"
#include "runtime/tensor.hpp"

namespace attune {

/// Any view or tensor, its type forgotten.
struct any_tensor : tensor_ref {
  any_tensor() = default;
  any_tensor(const tensor_ref &r) : tensor_ref(r) {}
  template <class T, class... Dims> any_tensor(const view<T, Dims...> &v) : tensor_ref(erase(v)) {}
  template <class T, class... Dims> any_tensor(const tensor<T, Dims...> &t) : tensor_ref(erase(t)) {}
};

/// The memory of a cache. Scales where its elements have them; a page table where it lies in pages.
struct kv_cache {
  any_tensor key, value, key_lengths, key_scale, value_scale, page_table;
};

/// Writes the new keys and values behind those that each batch holds, and raises key_lengths. Refused, with nothing written: wrong axes,
/// extents, elements or strides; overlap; lengths that do not fit (bad_lengths); pages outside the cache (bad_page), or one page that
/// two batches would write (overlap); numbers that the element cannot store (bad_number).
status try_append(const kv_cache &, const any_tensor &new_key, const any_tensor &new_value, const any_tensor &new_lengths = {}) noexcept;

/// The same; throws attune::error.
inline void append(const kv_cache &cache, const any_tensor &new_key, const any_tensor &new_value, const any_tensor &new_lengths = {}) {
  require(try_append(cache, new_key, new_value, new_lengths));
}

} // namespace attune

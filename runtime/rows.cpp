// Which keys each batch has: lengths, pages, and which rows the spec's own masks leave empty, in closed form: no score is needed.
#include "runtime/bind.hpp"
#include <algorithm>

namespace attune {
namespace {

std::int64_t window_of(const artefact_info &a, const bound_call &c) {
  for (int i = 0; i < a.call.number_count; ++i)
    if (a.call.call_numbers[i] == number_role::window) return c.integers[i];
  return static_cast<std::int64_t>(a.n.window.value);
}

/// The first query that no key is left for among the first `length` keys, or -1. Query q stands at key position q + shift;
/// it sees keys from position - window (with a window) to position (if causal).
std::int64_t first_empty_row(const artefact_info &a, const bound_call &c, std::int64_t length) {
  if (length == 0) return 0;
  const std::int64_t last = a.n.causal == causal_alignment::at_length ? length : c.key;
  const std::int64_t shift = a.n.causal == causal_alignment::top_left ? 0 : last - c.query; // a window alone counts from the last key too
  if (a.n.causal != causal_alignment::off && shift < 0) return 0;
  if (a.n.window.kind == setting::off) return -1;
  const std::int64_t first_behind = length + window_of(a, c) - shift; // from here on, the window begins behind the last key
  return first_behind < c.query ? std::max<std::int64_t>(first_behind, 0) : -1;
}

std::int64_t length_of(const bound_tensor &lengths, std::int64_t batch) { return static_cast<const std::int32_t *>(lengths.data)[batch * lengths.stride[0]]; }
std::int64_t pages_of(std::int64_t keys, int page_size) { return (keys + page_size - 1) / page_size; }

} // namespace

int place_of(const artefact_info &a, tensor_role role) noexcept {
  for (int i = 0; i < a.call.tensor_count; ++i)
    if (a.call.tensors[i].role == role) return i;
  return -1;
}

status bind_pages(const artefact_info &a, std::int64_t key_axis, const char *with_key_axis, bound_call &c) noexcept {
  const std::int64_t pages = c.tensors[place_of(a, tensor_role::page_table)].extent[1];
  c.key = pages * a.n.cache.page_size;
  if (c.key > INT32_MAX)
    return failure(error_code::too_large, "%s: tensor page_table: %lld pages of %d keys are more than %d keys. Split the call.", a.spec, static_cast<long long>(pages),
                   a.n.cache.page_size, INT32_MAX);
  if (key_axis < 0 || key_axis == c.key) return {};
  return failure(error_code::wrong_extent, "%s: tensor %s: axis key: expected %lld (page_table has %lld pages of %d keys), got %lld.", a.spec, with_key_axis,
                 static_cast<long long>(c.key), static_cast<long long>(pages), a.n.cache.page_size, static_cast<long long>(key_axis));
}

status check_pages(const artefact_info &a, const bound_call &c) noexcept {
  const bound_tensor &lengths = c.tensors[place_of(a, tensor_role::key_lengths)];
  const bound_tensor &table = c.tensors[place_of(a, tensor_role::page_table)];
  const std::int64_t pages = c.tensors[place_of(a, tensor_role::key)].extent[0];
  for (std::int64_t b = 0; b < c.batch; ++b) {
    const std::int64_t needed = pages_of(length_of(lengths, b), a.n.cache.page_size);
    for (std::int64_t p = 0; p < needed; ++p) {
      const std::int64_t page = static_cast<const std::int32_t *>(table.data)[b * table.stride[0] + p * table.stride[1]];
      if (page >= 0 && page < pages) continue;
      return failure(error_code::bad_page, "%s: tensor page_table: batch %lld, sequence_page %lld holds page %lld, expected 0 to %lld (the cache has %lld pages). Fill the table as far as "
                     "key_lengths reaches.", a.spec, static_cast<long long>(b), static_cast<long long>(p), static_cast<long long>(page), static_cast<long long>(pages - 1),
                     static_cast<long long>(pages));
    }
  }
  return {};
}

void cut_to_longest(const artefact_info &a, bound_call &c) noexcept {
  const bound_tensor &lengths = c.tensors[place_of(a, tensor_role::key_lengths)];
  std::int64_t longest = 0;
  for (std::int64_t b = 0; b < c.batch; ++b) longest = std::max(longest, length_of(lengths, b));
  if (is_paged(a.n)) {
    const std::int64_t pages = pages_of(longest, a.n.cache.page_size);
    c.tensors[place_of(a, tensor_role::page_table)].extent[1] = pages;
    c.key = pages * a.n.cache.page_size;
    return;
  }
  for (const tensor_role role : {tensor_role::key, tensor_role::value, tensor_role::key_scale, tensor_role::value_scale})
    if (const int place = place_of(a, role); place >= 0 && c.tensors[place].shape->rank > 2) c.tensors[place].extent[2] = longest;
  c.key = longest;
}

status check_rows(const artefact_info &a, const bound_call &c) noexcept {
  const int place = place_of(a, tensor_role::key_lengths);
  const bound_tensor *lengths = place < 0 ? nullptr : &c.tensors[place];
  const bool refuse_empty = a.n.empty_rows == empty_row_policy::error && c.query > 0;
  const std::int64_t rows = lengths ? c.batch : std::min<std::int64_t>(c.batch, 1);
  for (std::int64_t b = 0; b < rows; ++b) {
    std::int64_t length = c.key;
    if (lengths) length = length_of(*lengths, b);
    if (length < 0 || length > c.key)
      return failure(error_code::bad_lengths, "%s: tensor key_lengths: batch %lld has length %lld, expected 0 to %lld (%s). Pass how many keys of each batch count.",
                     a.spec, static_cast<long long>(b), static_cast<long long>(length), static_cast<long long>(c.key),
                     is_paged(a.n) ? "the pages that page_table has room for" : "the key extent");
    const std::int64_t row = refuse_empty ? first_empty_row(a, c, length) : -1;
    if (row >= 0)
      return failure(error_code::empty_row,
                     "%s: batch %lld, query %lld may attend to no key (%lld queries, %lld keys), and the spec makes empty rows an error. "
                     "Leave such rows out, or let the spec say empty_rows<zero>.",
                     a.spec, static_cast<long long>(b), static_cast<long long>(row), static_cast<long long>(c.query), static_cast<long long>(length));
  }
  return {};
}

} // namespace attune

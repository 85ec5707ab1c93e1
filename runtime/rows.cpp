// Which keys each batch has: lengths, pages, and which rows the spec's own masks leave empty: no score is needed.
#include "runtime/bind.hpp"
#include <algorithm>
#include <tuple>

namespace attune {
namespace {

std::int64_t at_call(const artefact_info &a, const bound_call &c, number_role role, const setting &s) {
  for (int i = 0; i < a.call.number_count; ++i)
    if (a.call.call_numbers[i] == role) return c.integers[i];
  return static_cast<std::int64_t>(s.value);
}

/// `queries` queries from `first_query` on, which attend to keys [first_key, end_key) of which those before `length` count.
struct row_range {
  std::int64_t first_query, queries, first_key, end_key, length, prefix;
};

/// The first of the queries that no key is left for, or -1. A query stands at a key position; it sees keys from position - window to
/// the position (if causal; or to the prefix's end), and to position + right window.
std::int64_t first_empty_row(const artefact_info &a, const bound_call &c, const row_range &r) {
  const numbers &n = a.n;
  const bool from_the_end = n.causal != causal_alignment::top_left && n.causal != causal_alignment::diagonal && !(n.causal == causal_alignment::off && n.same_extents);
  const std::int64_t last = n.causal == causal_alignment::at_length ? r.length : r.end_key, left = at_call(a, c, number_role::window, n.window);
  const std::int64_t right = at_call(a, c, number_role::window_right, n.window_right);
  for (std::int64_t q = 0; q < r.queries; ++q) {
    const std::int64_t position = r.first_key + q + (from_the_end ? (last - r.first_key) - r.queries : 0);
    std::int64_t begin = r.first_key, end = std::min(r.end_key, r.length);
    if (n.causal != causal_alignment::off) end = std::min(end, std::max(position + 1, r.prefix));
    if (n.window_right.kind != setting::off) end = std::min(end, position + right + 1);
    if (n.window.kind != setting::off) begin = std::max(begin, position - left);
    if (begin >= end) return r.first_query + q;
  }
  return -1;
}

std::int64_t length_of(const bound_tensor &lengths, std::int64_t batch) { return static_cast<const std::int32_t *>(lengths.data)[batch * lengths.stride[0]]; }
std::int64_t pages_of(std::int64_t keys, int page_size) { return (keys + page_size - 1) / page_size; }

const bound_tensor *tensor_of(const artefact_info &a, const bound_call &c, tensor_role role) {
  const int place = place_of(a, role);
  return place < 0 ? nullptr : &c.tensors[place];
}

/// Offsets begin with 0, never fall, and end within the tokens.
status check_offsets(const artefact_info &a, const bound_tensor &offsets, std::int64_t tokens, const char *kind) {
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < offsets.extent[0]; ++i) {
    const std::int64_t offset = length_of(offsets, i), least = before, most = i == 0 ? 0 : tokens;
    if (offset < least || offset > most)
      return failure(error_code::bad_lengths, "%s: tensor %s: offset %lld is %lld, expected %lld to %lld: offsets begin with 0, never fall, and end within the %lld %s.", a.spec,
                     offsets.shape->name, static_cast<long long>(i), static_cast<long long>(offset), static_cast<long long>(least), static_cast<long long>(most),
                     static_cast<long long>(tokens), kind);
    before = offset;
  }
  if (offsets.extent[0] > 0) return {};
  return failure(error_code::bad_lengths, "%s: tensor %s is empty, expected one offset for each document and one for the end of the last.", a.spec, offsets.shape->name);
}

/// The first query of a batch that has no key, or -1.
std::int64_t first_empty_row(const artefact_info &a, const bound_call &c, std::int64_t length, std::int64_t prefix) {
  const bound_tensor *of_queries = tensor_of(a, c, tensor_role::query_offsets), *of_keys = tensor_of(a, c, tensor_role::key_offsets);
  if (!of_queries) return first_empty_row(a, c, {0, c.query, 0, c.key, length, prefix});
  if (!of_keys) of_keys = of_queries;
  std::int64_t end = 0;
  for (std::int64_t i = 0; i + 1 < of_queries->extent[0]; ++i) {
    const std::int64_t first = length_of(*of_queries, i), first_key = length_of(*of_keys, i);
    end = length_of(*of_queries, i + 1);
    const std::int64_t row = first_empty_row(a, c, {first, end - first, first_key, length_of(*of_keys, i + 1), length, prefix});
    if (row >= 0) return row;
  }
  return end < c.query ? end : -1;
}

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
      const long long row = b, place = p, got = page, count = pages;
      if (count == 0) return failure(error_code::bad_page, "%s: tensor page_table: batch %lld, sequence_page %lld holds page %lld, but the cache has no pages.", a.spec, row, place, got);
      return failure(error_code::bad_page, "%s: tensor page_table: batch %lld, sequence_page %lld holds page %lld, expected 0 to %lld (the cache has %lld pages). Fill the table as far as "
                     "key_lengths reaches.", a.spec, row, place, got, count - 1, count);
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
  for (const auto &[role, tokens, kind] : {std::tuple{tensor_role::query_offsets, c.query, "queries"}, {tensor_role::key_offsets, c.key, "keys"}})
    if (const bound_tensor *offsets = tensor_of(a, c, role))
      if (status s = check_offsets(a, *offsets, tokens, kind); !s) return s;
  const bound_tensor *lengths = tensor_of(a, c, tensor_role::key_lengths), *prefixes = tensor_of(a, c, tensor_role::prefix_lengths);
  const bool refuse_empty = a.n.empty_rows == empty_row_policy::error && c.query > 0;
  const std::int64_t rows = lengths || prefixes ? c.batch : std::min<std::int64_t>(c.batch, 1);
  for (std::int64_t b = 0; b < rows; ++b) {
    std::int64_t length = c.key;
    if (lengths) length = length_of(*lengths, b);
    if (length < 0 || length > c.key)
      return failure(error_code::bad_lengths, "%s: tensor key_lengths: batch %lld has length %lld, expected 0 to %lld (%s). Pass how many keys of each batch count.",
                     a.spec, static_cast<long long>(b), static_cast<long long>(length), static_cast<long long>(c.key),
                     is_paged(a.n) ? "the pages that page_table has room for" : "the key extent");
    const std::int64_t prefix = prefixes ? length_of(*prefixes, b) : 0;
    if (prefix < 0 || prefix > c.key)
      return failure(error_code::bad_lengths, "%s: tensor prefix_lengths: batch %lld has prefix length %lld, expected 0 to %lld (the key extent).", a.spec, static_cast<long long>(b),
                     static_cast<long long>(prefix), static_cast<long long>(c.key));
    const std::int64_t row = refuse_empty ? first_empty_row(a, c, length, prefix) : -1;
    if (row >= 0)
      return failure(error_code::empty_row,
                     "%s: batch %lld, query %lld may attend to no key (%lld queries, %lld keys), and the spec makes empty rows an error. "
                     "Leave such rows out, or let the spec say empty_rows<zero>.",
                     a.spec, static_cast<long long>(b), static_cast<long long>(row), static_cast<long long>(c.query), static_cast<long long>(length));
  }
  return {};
}

} // namespace attune

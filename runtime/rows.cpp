// Which rows a spec's own masks leave empty, in closed form: no score is needed.
#include "runtime/bind.hpp"
#include <algorithm>

namespace attune {
namespace {

const bound_tensor *find(const artefact_info &a, const bound_call &c, tensor_role role) {
  for (int i = 0; i < a.call.tensor_count; ++i)
    if (a.call.tensors[i].role == role) return &c.tensors[i];
  return nullptr;
}

std::int64_t window_of(const artefact_info &a, const bound_call &c) {
  for (int i = 0; i < a.call.number_count; ++i)
    if (a.call.call_numbers[i] == number_role::window) return c.integers[i];
  return static_cast<std::int64_t>(a.n.window.value);
}

/// The first query that no key is left for among the first `length` keys, or -1. Query q stands at key position q + shift;
/// it sees keys from position - window (with a window) to position (if causal).
std::int64_t first_empty_row(const artefact_info &a, const bound_call &c, std::int64_t length) {
  if (length == 0) return 0;
  const std::int64_t shift = a.n.causal == causal_alignment::top_left ? 0 : c.key - c.query; // a window alone counts from the last key too
  if (a.n.causal != causal_alignment::off && shift < 0) return 0;
  if (a.n.window.kind == setting::off) return -1;
  const std::int64_t first_behind = length + window_of(a, c) - shift; // from here on, the window begins behind the last key
  return first_behind < c.query ? std::max<std::int64_t>(first_behind, 0) : -1;
}

} // namespace

status check_rows(const artefact_info &a, const bound_call &c) noexcept {
  const bound_tensor *lengths = find(a, c, tensor_role::key_lengths);
  const bool refuse_empty = a.n.empty_rows == empty_row_policy::error && c.query > 0;
  const std::int64_t rows = lengths ? c.batch : std::min<std::int64_t>(c.batch, 1);
  for (std::int64_t b = 0; b < rows; ++b) {
    std::int64_t length = c.key;
    if (lengths) length = static_cast<const std::int32_t *>(lengths->data)[b * lengths->stride[0]];
    if (length < 0 || length > c.key)
      return failure(error_code::bad_lengths, "%s: tensor key_lengths: batch %lld has length %lld, expected 0 to %lld (the key extent). Pass how many keys of each batch count.",
                     a.spec, static_cast<long long>(b), static_cast<long long>(length), static_cast<long long>(c.key));
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

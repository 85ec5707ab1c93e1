// Positions of rotary embeddings: those that generated code can count, and that the call's tables have.
#include "runtime/bind.hpp"
#include <algorithm>
#include <cstdint>

namespace attune {

namespace {

std::int64_t at(const bound_tensor &t, std::int64_t i) { return static_cast<const std::int32_t *>(t.data)[i * t.stride[0]]; }

/// Queries [0, queries) that stand one after the other, the first of them at `first`, among keys [first_key, first_key + keys).
struct placed_rows {
  std::int64_t queries, first, first_key, keys;
};
placed_rows rows_of(const artefact_info &a, std::int64_t queries, std::int64_t first_key, std::int64_t keys) {
  return {queries, first_key + (aligned_to_end(a.n) ? keys - queries : 0), first_key, keys};
}

/// The positions of a call's rows in one batch, without its offset, except those of rows that have no key.
struct position_range {
  std::int64_t first = INT64_MAX, last = INT64_MIN;

  void add(std::int64_t from, std::int64_t to) { first = std::min(first, from), last = std::max(last, to); }
  void add(const placed_rows &r, bool causal, std::int64_t prefix) {
    if (r.queries == 0 || r.keys == 0) return;
    const bool before_the_keys_is_empty = causal && prefix <= r.first_key;
    const std::int64_t from = before_the_keys_is_empty ? std::max(r.first, r.first_key) : r.first, to = r.first + r.queries - 1;
    if (from <= to) add(from, to);
  }
};
position_range positions_of(const artefact_info &a, const bound_call &c, std::int64_t batch) {
  const int lengths = place_of(a, tensor_role::key_lengths), prefixes = place_of(a, tensor_role::prefix_lengths);
  const int of_queries = place_of(a, tensor_role::query_offsets), given = place_of(a, tensor_role::key_offsets), of_keys = given < 0 ? of_queries : given;
  const bool causal = a.n.causal != causal_alignment::off;
  const std::int64_t prefix = prefixes < 0 ? 0 : at(c.tensors[prefixes], batch);
  position_range r;
  if (!a.n.rope.keys_rotated) r.add(0, c.key - 1);
  if (of_queries < 0) {
    r.add(rows_of(a, c.query, 0, a.n.causal == causal_alignment::at_length ? at(c.tensors[lengths], batch) : c.key), causal, prefix);
    return r;
  }
  for (std::int64_t d = 0; d + 1 < c.tensors[of_queries].extent[0]; ++d) {
    const std::int64_t first_key = at(c.tensors[of_keys], d);
    r.add(rows_of(a, at(c.tensors[of_queries], d + 1) - at(c.tensors[of_queries], d), first_key, at(c.tensors[of_keys], d + 1) - first_key), causal, prefix);
  }
  return r;
}

} // namespace

status check_positions(const artefact_info &a, const bound_call &c) noexcept {
  if (a.n.rope.dims == 0 || c.query == 0 || c.key == 0) return {};
  constexpr long long furthest = 1LL << 30;
  const int offsets = place_of(a, tensor_role::position_offsets), table = place_of(a, tensor_role::cos_table);
  for (std::int64_t b = 0; b < c.batch; ++b) {
    const long long offset = offsets < 0 ? 0 : at(c.tensors[offsets], b), batch = b;
    if (offset < -furthest || offset > furthest)
      return failure(error_code::bad_positions, "%s: tensor position_offsets: batch %lld has offset %lld, expected %lld to %lld.", a.spec, batch, offset, -furthest, furthest);
    if (table < 0) continue;
    const position_range r = positions_of(a, c, b);
    if (r.first > r.last) continue;
    const long long first = r.first + offset, last = r.last + offset, positions = c.tensors[table].extent[1];
    if (first < 0 || last >= positions)
      return failure(error_code::bad_positions,
                     "%s: tensor cos_table has %lld positions, but batch %lld stands at positions %lld to %lld. Pass tables with more positions, or other position_offsets.", a.spec,
                     positions, batch, first, last);
  }
  return {};
}

} // namespace attune

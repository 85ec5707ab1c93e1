// Positions of rotary embeddings: those that generated code can count, and that the call's tables have.
#include "runtime/bind.hpp"
#include <algorithm>

namespace attune {

namespace {

std::int64_t at(const bound_tensor &t, std::int64_t batch) { return static_cast<const std::int32_t *>(t.data)[batch * t.stride[0]]; }

/// The positions of a call's rows in one batch, without its offset, except those of rows that causal leaves empty.
struct position_range {
  std::int64_t first, last;
};
position_range positions_of(const artefact_info &a, const bound_call &c, std::int64_t batch) {
  const int lengths = place_of(a, tensor_role::key_lengths);
  const std::int64_t end = a.n.causal == causal_alignment::at_length ? at(c.tensors[lengths], batch) : c.key;
  const std::int64_t shift = aligned_to_end(a.n) ? end - c.query : 0;
  position_range r{shift, shift + c.query - 1};
  if (a.n.causal != causal_alignment::off) r.first = std::max<std::int64_t>(r.first, 0);
  if (!a.n.rope.keys_rotated) r = {std::min<std::int64_t>(r.first, 0), std::max(r.last, c.key - 1)};
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
    const long long first = r.first + offset, last = r.last + offset, positions = c.tensors[table].extent[1];
    if (first < 0 || last >= positions)
      return failure(error_code::bad_positions,
                     "%s: tensor cos_table has %lld positions, but batch %lld stands at positions %lld to %lld. Pass tables with more positions, or other position_offsets.", a.spec,
                     positions, batch, first, last);
  }
  return {};
}

} // namespace attune

#include "runtime/bind.hpp"
#include <algorithm>

namespace attune {
namespace {

struct axis_bytes {
  std::int64_t stride, extent;
};

/// The axes that move in memory, smallest stride first, in bytes.
struct footprint {
  axis_bytes axes[maximum_rank];
  int rank = 0;
  std::uintptr_t first = 0;
  std::int64_t element = 0;
  bool empty = false;

  explicit footprint(const bound_tensor &t) : first(reinterpret_cast<std::uintptr_t>(t.data)), element(static_cast<std::int64_t>(size_of(t.shape->element))) {
    for (int i = 0; i < t.shape->rank; ++i) {
      empty |= t.extent[i] == 0;
      if (t.extent[i] > 1) insert({t.stride[i] * element, t.extent[i]});
    }
  }
  void insert(axis_bytes a) {
    int at = rank++;
    for (; at > 0 && axes[at - 1].stride > a.stride; --at) axes[at] = axes[at - 1];
    axes[at] = a;
  }
  /// Bytes from the first element to the end of the last, over the axes whose stride is below `limit`.
  std::int64_t span_below(std::int64_t limit) const {
    std::int64_t span = element;
    for (int i = 0; i < rank && axes[i].stride < limit; ++i) span += axes[i].stride * (axes[i].extent - 1);
    return span;
  }
  std::int64_t span() const { return span_below(INT64_MAX); }
  bool repeats_every(std::int64_t period) const {
    return std::all_of(axes, axes + rank, [&](axis_bytes a) { return a.stride < period || a.stride % period == 0; });
  }
};

/// Two tensors that repeat with one period, as slices of the same rows do, are apart if they are apart within a period.
bool apart_within(const footprint &a, const footprint &b, std::int64_t period) {
  if (period <= 0 || !a.repeats_every(period) || !b.repeats_every(period)) return false;
  const std::uintptr_t step = static_cast<std::uintptr_t>(period), base = std::min(a.first, b.first);
  const std::int64_t a_first = static_cast<std::int64_t>((a.first - base) % step), b_first = static_cast<std::int64_t>((b.first - base) % step);
  const std::int64_t a_end = a_first + a.span_below(period), b_end = b_first + b.span_below(period);
  if (a_first <= b_first) return a_end <= b_first && b_end <= a_first + period;
  return b_end <= a_first && a_end <= b_first + period;
}

} // namespace

bool may_overlap(const bound_tensor &x, const bound_tensor &y) noexcept {
  const footprint a(x), b(y);
  if (a.empty || b.empty) return false;
  if (a.first + static_cast<std::uintptr_t>(a.span()) <= b.first || b.first + static_cast<std::uintptr_t>(b.span()) <= a.first) return false;
  for (int i = 0; i < a.rank; ++i)
    if (apart_within(a, b, a.axes[i].stride)) return false;
  for (int i = 0; i < b.rank; ++i)
    if (apart_within(a, b, b.axes[i].stride)) return false;
  return true;
}

bool may_overlap_itself(const bound_tensor &t) noexcept {
  const footprint f(t);
  if (f.empty) return false;
  std::int64_t span = f.element;
  for (int i = 0; i < f.rank; ++i) {
    if (f.axes[i].stride < span) return true;
    span += f.axes[i].stride * (f.axes[i].extent - 1);
  }
  return false;
}

} // namespace attune

#include "runtime/axis_order.hpp"
#include <cstdio>
#include <utility>

namespace attune {

tensor_shape in_layout(tensor_shape s, tensor_layout layout) {
  const bool headed = s.role == tensor_role::query || s.role == tensor_role::key || s.role == tensor_role::value || s.role == tensor_role::output;
  if (layout == tensor_layout::bshd && headed && s.rank == 4) std::swap(s.axes[1], s.axes[2]);
  return s;
}

axes_text::axes_text(const tensor_shape &s) {
  std::size_t used = 0;
  for (int a = 0; a < s.rank && used < sizeof text; ++a)
    used += static_cast<std::size_t>(std::snprintf(text + used, sizeof text - used, "%s%s", a ? ", " : "[", name_of(s.axes[a].axis)));
  if (used < sizeof text) std::snprintf(text + used, sizeof text - used, "]");
}

} // namespace attune

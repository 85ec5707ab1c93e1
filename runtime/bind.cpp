#include "runtime/bind.hpp"
#include "runtime/axis_order.hpp"
#include <algorithm>
#include <climits>
#include <cmath>

namespace attune {
namespace {

using integer = long long; // for printf

/// What a call knows of an axis whose extent the spec leaves open.
struct known_extent {
  std::int64_t extent = -1;
  const char *tensor = nullptr;
};

constexpr std::int64_t left_out = -1; ///< the extent of a batch axis that a view does not have

int place(const tensor_shape &shape, axis_name a) {
  for (int i = 0; i < shape.rank; ++i)
    if (shape.axes[i].axis == a) return i;
  return -1;
}

status order_axes(const artefact_info &artefact, const tensor_shape &shape, const tensor_ref &r, bound_tensor &t) {
  for (int a = 0; a < shape.rank; ++a) t.extent[a] = left_out;
  for (int i = 0; i < r.rank; ++i) {
    const int p = place(shape, r.axes[i]);
    if (p < 0) return failure(error_code::wrong_axis, "%s: tensor %s has no axis %s. Its axes are %s.", artefact.spec, shape.name, name_of(r.axes[i]), axes_text(shape).c_str());
    if (t.extent[p] != left_out) return failure(error_code::wrong_axis, "%s: tensor %s was passed with axis %s twice.", artefact.spec, shape.name, name_of(r.axes[i]));
    if (r.extent[i] < 0)
      return failure(error_code::wrong_extent, "%s: tensor %s: axis %s has the negative extent %lld.", artefact.spec, shape.name, name_of(r.axes[i]), integer(r.extent[i]));
    t.extent[p] = r.extent[i];
    t.stride[p] = r.stride[i];
  }
  for (int a = 0; a < shape.rank; ++a)
    if (t.extent[a] == left_out && shape.axes[a].axis != axis_name::batch)
      return failure(error_code::wrong_axis, "%s: tensor %s was passed without axis %s. Its axes are %s; only batch may be left out.", artefact.spec, shape.name,
                     name_of(shape.axes[a].axis), axes_text(shape).c_str());
  return {};
}

bool is_empty(const tensor_shape &shape, const bound_tensor &t) {
  for (int a = 0; a < shape.rank; ++a)
    if (t.extent[a] == 0) return true;
  return false;
}

/// Strides of axes with one element, and all strides of a tensor without elements, say nothing: they are set to what
/// generated code expects.
status check_strides(const artefact_info &artefact, const tensor_shape &shape, bound_tensor &t) {
  const bool empty = is_empty(shape, t);
  for (int a = 0; a < shape.rank; ++a) {
    const char *axis = name_of(shape.axes[a].axis);
    const bool innermost = a == shape.rank - 1;
    if (t.extent[a] == left_out) continue;
    if (empty || t.extent[a] <= 1) t.stride[a] = innermost ? 1 : 0;
    if (t.extent[a] <= 1) continue;
    if (t.extent[a] > INT32_MAX || t.stride[a] > INT32_MAX)
      return failure(error_code::too_large, "%s: tensor %s: axis %s has extent %lld and stride %lld, expected at most %d. Split the call.", artefact.spec, shape.name, axis,
                     integer(t.extent[a]), integer(t.stride[a]), INT32_MAX);
    if (t.stride[a] < 0)
      return failure(error_code::wrong_stride, "%s: tensor %s: axis %s has the negative stride %lld. Copy the tensor to one with positive strides.", artefact.spec, shape.name,
                     axis, integer(t.stride[a]));
    if (innermost && shape.innermost_contiguous && t.stride[a] != 1)
      return failure(error_code::wrong_stride, "%s: tensor %s: axis %s must be contiguous: expected stride 1, got %lld. Copy the tensor, or give its axes in their order in memory.",
                     artefact.spec, shape.name, axis, integer(t.stride[a]));
  }
  return {};
}

/// Elements from a tensor's first to its last one; their bytes fit in 63 bits.
std::int64_t span_of(const tensor_shape &shape, const bound_tensor &t) {
  std::int64_t span = 1;
  for (int a = 0; a < shape.rank; ++a) span += (t.extent[a] - 1) * t.stride[a];
  return span;
}

constexpr std::int64_t longest_span = std::int64_t{1} << 46; ///< more elements than any address space has room for

status check_span(const artefact_info &artefact, const tensor_shape &shape, const bound_tensor &t) {
  if (is_empty(shape, t)) return {};
  for (int a = 0; a < shape.rank; ++a)
    if ((t.extent[a] - 1) * t.stride[a] > longest_span / maximum_rank)
      return failure(error_code::too_large, "%s: tensor %s: axis %s of extent %lld and stride %lld reaches further than memory does.", artefact.spec, shape.name,
                     name_of(shape.axes[a].axis), integer(t.extent[a]), integer(t.stride[a]));
  return {};
}

/// What generated code counts in 31 bits on every target: positions, tasks of a parallel loop, and elements of one batch in what it
/// keeps from one loop to the next. All are bounded from above.
status check_counts(const artefact_info &a, const bound_call &c) {
  const numbers &n = a.n;
  constexpr double most = 1 << 30, rows_of_task = 16, keys_of_chunk = 128, padding = 64;
  const double rows = static_cast<double>(std::max(c.query, c.key)), tasks = static_cast<double>(c.batch) * n.heads * std::ceil(rows / rows_of_task);
  const double partial_results = (n.value_dim + padding) * std::max(n.heads, 8 * n.kv_heads) / keys_of_chunk; // of decode
  double kept = std::max<double>(n.heads, partial_results);
  if (n.rope.dims > 0) kept = std::max<double>(kept, n.heads * n.head_dim);
  if (is_projected(n)) kept = std::max<double>({kept, double(n.heads) * n.head_dim, double(n.heads) * n.value_dim, double(n.model_dim), double(n.context_dim), double(n.output_dim)});
  if (rows <= most && rows * kept <= most && tasks <= most) return {};
  return failure(error_code::too_large, "%s: batch %lld, %lld queries and %lld keys are more than one call can count. Split the call.", a.spec, integer(c.batch), integer(c.query),
                 integer(c.key));
}

status check_data(const artefact_info &artefact, const tensor_shape &shape, const bound_tensor &t, element_type element) {
  if (!is_empty(shape, t) && !t.data)
    return failure(error_code::missing_tensor, "%s: tensor %s has no data (null pointer) although it is not empty.", artefact.spec, shape.name);
  if (reinterpret_cast<std::uintptr_t>(t.data) % size_of(element) != 0)
    return failure(error_code::misaligned, "%s: tensor %s: its address is not a multiple of %d bytes, the size of an %s element.", artefact.spec, shape.name,
                   static_cast<int>(size_of(element)), name_of(element));
  return {};
}

status check_fixed_extent(const artefact_info &artefact, const tensor_shape &shape, int place, std::int64_t got) {
  const std::int64_t fixed = shape.axes[place].extent;
  if (fixed == dynamic_extent || got == fixed) return {};
  return failure(error_code::wrong_extent, "%s: tensor %s: axis %s: expected %lld (fixed by the spec), got %lld. Its axes are %s.", artefact.spec, shape.name, name_of(shape.axes[place].axis),
                 integer(fixed), integer(got), axes_text(in_layout(shape, artefact.n.layout)).c_str());
}

class binder {
public:
  binder(const artefact_info &a, const tensor_ref *given, bound_call &c) : artefact_(a), given_(given), call_(c) {}

  status bind_tensor(int i) {
    const tensor_shape &shape = artefact_.call.tensors[i];
    bound_tensor &t = call_.tensors[i];
    t.shape = &shape;
    t.data = given_[i].data;
    if (shape.role == tensor_role::packed_weights) return bind_weights(given_[i]);
    if (status s = order_axes(artefact_, shape, given_[i], t); !s) return s;
    if (status s = check_element(shape, given_[i]); !s) return s;
    if (status s = check_strides(artefact_, shape, t); !s) return s;
    return check_extents(shape, given_[i], t);
  }

  /// After all tensors: the batch of those that left it out, and whether the data is there.
  status complete_tensor(int i) {
    const tensor_shape &shape = artefact_.call.tensors[i];
    bound_tensor &t = call_.tensors[i];
    if (shape.role == tensor_role::packed_weights) return {};
    for (int a = 0; a < shape.rank; ++a) {
      if (t.extent[a] != left_out) continue;
      if (shape.written && call_.batch != 1)
        return failure(error_code::wrong_axis, "%s: tensor %s has no batch axis, but %s has batch %lld. Only tensors that are read may leave out batch then: add a batch axis.",
                       artefact_.spec, shape.name, seen(axis_name::batch).tensor, integer(call_.batch));
      t.extent[a] = call_.batch;
      t.stride[a] = 0;
    }
    if (status s = check_span(artefact_, shape, t); !s) return s;
    return check_data(artefact_, shape, t, shape.element);
  }

  known_extent &seen(axis_name a) { return seen_[static_cast<int>(joined(a))]; }

private:
  /// Where queries and keys are the same tokens, one extent serves both axes.
  axis_name joined(axis_name a) const {
    const bool same = artefact_.n.same_extents || artefact_.n.source == source_kind::projection;
    return same && a == axis_name::key ? axis_name::query : a;
  }

  status bind_weights(const tensor_ref &r) {
    call_.weights = static_cast<const packed_weights_ref *>(r.data);
    if (!call_.weights)
      return failure(error_code::missing_tensor, "%s: no packed weights were passed. Make them once with pack_weights and pass them to every call.", artefact_.spec);
    if (std::strcmp(call_.weights->hash, artefact_.hash) != 0)
      return failure(error_code::wrong_weights, "%s: these weights were packed for spec %s (hash %s), expected hash %s. Pack them again for this spec.", artefact_.spec,
                     call_.weights->spec, call_.weights->hash, artefact_.hash);
    return {};
  }

  status check_element(const tensor_shape &shape, const tensor_ref &r) {
    if (r.element != shape.element)
      return failure(error_code::wrong_element, "%s: tensor %s: expected %s elements, got %s. Convert them to %s before the call.", artefact_.spec, shape.name, name_of(shape.element),
                     name_of(r.element), name_of(shape.element));
    if (shape.written && !r.writable)
      return failure(error_code::not_writable, "%s: tensor %s is written by the kernel, but was passed as read-only.", artefact_.spec, shape.name);
    return {};
  }

  status check_extents(const tensor_shape &shape, const tensor_ref &r, const bound_tensor &t) {
    for (int i = 0; i < r.rank; ++i) {
      const int p = place(shape, r.axes[i]);
      const std::int64_t got = t.extent[p];
      if (status s = check_fixed_extent(artefact_, shape, p, got); !s) return s;
      if (shape.axes[p].extent != dynamic_extent) continue;
      known_extent &known = seen(r.axes[i]);
      if (!known.tensor) known = {got, shape.name};
      if (known.extent != got)
        return failure(error_code::wrong_extent, "%s: tensor %s: axis %s: expected %lld (as in tensor %s), got %lld. The tensors of one call must agree.", artefact_.spec, shape.name,
                       name_of(r.axes[i]), integer(known.extent), known.tensor, integer(got));
    }
    return {};
  }

  const artefact_info &artefact_;
  const tensor_ref *given_;
  bound_call &call_;
  known_extent seen_[axis_name_count];
};

status check_overlap(const artefact_info &a, const bound_call &c) {
  for (int i = 0; i < a.call.tensor_count; ++i) {
    if (!a.call.tensors[i].written) continue;
    if (may_overlap_itself(c.tensors[i]))
      return failure(error_code::overlap, "%s: tensor %s is written, but its strides lead two of its indices to one element. Give it strides that do not.", a.spec,
                     a.call.tensors[i].name);
    for (int j = 0; j < a.call.tensor_count; ++j) {
      if (j == i || (a.call.tensors[j].written && j < i) || a.call.tensors[j].role == tensor_role::packed_weights) continue;
      if (may_overlap(c.tensors[i], c.tensors[j]))
        return failure(error_code::overlap, "%s: tensor %s is written and shares memory with tensor %s. Give it memory of its own.", a.spec, a.call.tensors[i].name,
                       a.call.tensors[j].name);
    }
  }
  return {};
}

/// A block table has an entry for each block, the last of which may be cut short.
status check_blocks(const artefact_info &a, std::int64_t query_blocks, std::int64_t key_blocks, const bound_call &c) {
  if (a.n.query_block == 0) return {};
  const auto check = [&](axis_name axis, std::int64_t got, std::int64_t tokens, int block) -> status {
    const std::int64_t needed = (tokens + block - 1) / block;
    if (got == needed) return {};
    return failure(error_code::wrong_extent, "%s: tensor block_table: axis %s: expected %lld (%lld tokens in blocks of %d), got %lld.", a.spec, name_of(axis), integer(needed),
                   integer(tokens), block, integer(got));
  };
  if (status s = check(axis_name::query_block, query_blocks, c.query, a.n.query_block); !s) return s;
  return check(axis_name::key_block, key_blocks, c.key, a.n.key_block);
}

status bind_number(const artefact_info &a, int i, double x, bound_call &c) {
  const number_role role = a.call.call_numbers[i];
  const char *name = name_of(role);
  if (!std::isfinite(x) || std::fabs(x) > 3.4e38)
    return failure(error_code::bad_number, "%s: number %s is %g, expected a finite number that an f32 can hold.", a.spec, name, x);
  if (role == number_role::softcap && !(x > 0)) return failure(error_code::bad_number, "%s: number softcap is %g, expected one above 0.", a.spec, x);
  if (is_whole(role) && (x < 0 || x > INT32_MAX || x != std::floor(x)))
    return failure(error_code::bad_number, "%s: number %s is %g, expected a whole number from 0 to %d: how many keys %s its own position a query sees.", a.spec, name, x, INT32_MAX,
                   role == number_role::window ? "before" : "behind");
  if (is_whole(role)) c.integers[i] = static_cast<std::int32_t>(x);
  else c.reals[i] = static_cast<float>(x);
  return {};
}

} // namespace

status bind_weight(const artefact_info &a, const tensor_shape &shape, const tensor_ref &r, bound_tensor &t) noexcept {
  t.shape = &shape;
  t.data = r.data;
  if (r.element != element_type::f32 && r.element != element_type::f16 && r.element != element_type::bf16)
    return failure(error_code::wrong_element, "%s: tensor %s: expected f32, f16 or bf16 elements, got %s. Convert them before packing.", a.spec, shape.name, name_of(r.element));
  if (status s = order_axes(a, shape, r, t); !s) return s;
  if (status s = check_strides(a, shape, t); !s) return s;
  for (int i = 0; i < shape.rank; ++i)
    if (status s = check_fixed_extent(a, shape, i, t.extent[i]); !s) return s;
  if (status s = check_span(a, shape, t); !s) return s;
  return check_data(a, shape, t, r.element);
}

status check_31_bits(const artefact_info &a, const bound_call &c) noexcept {
  for (int i = 0; i < a.call.tensor_count; ++i) {
    const tensor_shape &shape = a.call.tensors[i];
    if (shape.role == tensor_role::packed_weights || is_empty(shape, c.tensors[i])) continue;
    double elements = 1, reach = static_cast<double>(span_of(shape, c.tensors[i]));
    for (int axis = 0; axis < shape.rank; ++axis) {
      elements *= static_cast<double>(c.tensors[i].extent[axis]);
      reach = std::max(reach, static_cast<double>(c.tensors[i].extent[axis]) * static_cast<double>(c.tensors[i].stride[axis]));
    }
    if (elements > INT32_MAX || reach > INT32_MAX)
      return failure(error_code::too_large, "%s: tensor %s reaches over more than %d elements, which code for devices and for projections cannot count. Split the call.", a.spec,
                     shape.name, INT32_MAX);
  }
  return {};
}

status bind(const artefact_info &a, const tensor_ref *tensors, int tensor_count, const double *numbers, int number_count, bound_call &c) noexcept {
  if (tensor_count != a.call.tensor_count || number_count != a.call.number_count)
    return failure(error_code::wrong_count, "%s: expected %d tensors and %d numbers, got %d and %d.", a.spec, a.call.tensor_count, a.call.number_count, tensor_count, number_count);
  binder b(a, tensors, c);
  for (int i = 0; i < tensor_count; ++i)
    if (status s = b.bind_tensor(i); !s) return s;
  const auto extent = [&](axis_name axis, std::int64_t otherwise) { return b.seen(axis).tensor ? b.seen(axis).extent : otherwise; };
  c.batch = extent(axis_name::batch, 1);
  c.query = extent(axis_name::query, 0);
  c.key = extent(axis_name::key, 0);
  if (is_paged(a.n))
    if (status s = bind_pages(a, extent(axis_name::key, -1), b.seen(axis_name::key).tensor, c); !s) return s;
  for (int i = 0; i < tensor_count; ++i)
    if (status s = b.complete_tensor(i); !s) return s;
  if (status s = check_counts(a, c); !s) return s;
  if (status s = check_blocks(a, b.seen(axis_name::query_block).extent, b.seen(axis_name::key_block).extent, c); !s) return s;
  if (status s = check_overlap(a, c); !s) return s;
  for (int i = 0; i < number_count; ++i)
    if (status s = bind_number(a, i, numbers[i], c); !s) return s;
  if (status s = check_rows(a, c); !s) return s;
  if (is_paged(a.n))
    if (status s = check_pages(a, c); !s) return s;
  const bool cached = is_paged(a.n) || (a.n.causal == causal_alignment::at_length && !is_projected(a.n));
  if (cached) cut_to_longest(a, c);
  return check_positions(a, c);
}

} // namespace attune

#include "runtime/call.hpp"
#include "HalideRuntime.h"
#include "runtime/bind.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/threads.hpp"
#include <cmath>

namespace attune {
namespace {

halide_type_t halide_type(element_type e) {
  switch (e) {
    case element_type::f32: return {halide_type_float, 32};
    case element_type::f16: case element_type::bf16: return {halide_type_uint, 16};
    case element_type::boolean: case element_type::e4m3: case element_type::e5m2: return {halide_type_uint, 8};
    case element_type::int8: return {halide_type_int, 8};
    case element_type::i32: return {halide_type_int, 32};
  }
  return {halide_type_float, 32};
}

/// A buffer with its axes, innermost first.
struct buffer {
  halide_buffer_t head = {};
  halide_dimension_t axes[maximum_rank];

  void point_at(void *data, element_type e, int rank, bool read, bool on_device) {
    head.host = static_cast<std::uint8_t *>(data);
    head.type = halide_type(e);
    head.dimensions = rank;
    head.dim = axes;
    if (read && on_device) head.set_flag(halide_buffer_flag_host_dirty, true);
  }
  void of(const bound_tensor &t, bool on_device) {
    const int rank = t.shape->rank;
    for (int i = 0; i < rank; ++i)
      axes[i] = {0, static_cast<std::int32_t>(t.extent[rank - 1 - i]), static_cast<std::int32_t>(t.stride[rank - 1 - i])};
    point_at(t.data, t.shape->element, rank, !t.shape->written, on_device);
  }
  /// [panel, place in the panel], element of the spec.
  void of_matrix(const packed_matrix &m, int lanes, element_type e, bool on_device) {
    const std::int32_t in = static_cast<std::int32_t>(m.features_in), panels = static_cast<std::int32_t>((m.features_out + lanes - 1) / lanes);
    axes[0] = {0, lanes * in, 1};
    axes[1] = {0, panels, lanes * in};
    point_at(m.data, e, 2, true, on_device);
  }
  void of_bias(const packed_matrix &m, int lanes, bool on_device) {
    axes[0] = {0, static_cast<std::int32_t>((m.features_out + lanes - 1) / lanes) * lanes, 1};
    point_at(m.bias, element_type::f32, 1, true, on_device);
  }
};

/// argv as runtime/artefact.hpp lays it down: context, tensors read, numbers, tensors written.
class arguments {
public:
  arguments(const artefact_info &a, bound_call &c, call_context &context, bool on_device) : context_(&context) {
    argv[count_++] = &context_;
    for (int i = 0; i < a.call.tensor_count; ++i) {
      if (a.call.tensors[i].role == tensor_role::packed_weights) add_weights(*c.weights, a.n.element, on_device);
      else if (!a.call.tensors[i].written) add().of(c.tensors[i], on_device);
    }
    for (int i = 0; i < a.call.number_count; ++i)
      argv[count_++] = is_whole(a.call.call_numbers[i]) ? static_cast<void *>(&c.integers[i]) : static_cast<void *>(&c.reals[i]);
    first_output_ = used_;
    for (int i = 0; i < a.call.tensor_count; ++i)
      if (a.call.tensors[i].written) add().of(c.tensors[i], on_device);
  }

  /// Brings what a device computed back to the host, and frees the device's copies of all tensors.
  int leave_device(int result) {
    for (int i = 0; i < used_; ++i) {
      halide_buffer_t &b = buffers_[i].head;
      if (!b.device_interface) continue;
      if (result == 0 && i >= first_output_) result = b.device_interface->copy_to_host(context_, &b);
      const int freed = b.device_interface->device_free(context_, &b);
      if (result == 0) result = freed;
    }
    return result;
  }

  void *argv[1 + maximum_tensors + 8 + maximum_numbers] = {};

private:
  buffer &add() {
    argv[count_++] = &buffers_[used_].head;
    return buffers_[used_++];
  }
  void add_weights(const packed_weights_ref &w, element_type e, bool on_device) {
    for (int m = 0; m < w.count; ++m) {
      add().of_matrix(w.matrices[m], w.lanes, e, on_device);
      add().of_bias(w.matrices[m], w.lanes, on_device);
    }
  }

  void *context_;
  int count_ = 0, used_ = 0, first_output_ = 0;
  buffer buffers_[maximum_tensors + 8];
};

void store(void *at, element_type e, float x) {
  if (e == element_type::f32) std::memcpy(at, &x, sizeof x);
  else if (e == element_type::f16) static_cast<f16_t *>(at)->bits = f16_t(x).bits;
  else static_cast<bf16_t *>(at)->bits = bf16_t(x).bits;
}

/// Sets every element to value(its index along each axis).
template <class Value> void fill(const bound_tensor &t, Value value) {
  const int rank = t.shape->rank, last = rank - 1;
  const std::int64_t bytes = static_cast<std::int64_t>(size_of(t.shape->element));
  std::int64_t index[maximum_rank] = {};
  for (int a = 0; a < rank; ++a)
    if (t.extent[a] == 0) return;
  for (;;) {
    std::int64_t offset = 0;
    for (int a = 0; a < rank; ++a) offset += index[a] * t.stride[a];
    store(static_cast<char *>(t.data) + offset * bytes, t.shape->element, value(index));
    int a = last;
    while (a >= 0 && ++index[a] == t.extent[a]) index[a--] = 0;
    if (a < 0) return;
  }
}

/// With no key at all, every row is empty: output 0, or the output projection's bias; LSE -inf, or the head's sink; no weights.
void fill_without_keys(const artefact_info &a, const bound_call &c) {
  const float *bias = c.weights && c.weights->count == 4 ? c.weights->matrices[3].bias : nullptr;
  const bound_tensor *sinks = nullptr;
  for (int i = 0; i < a.call.tensor_count; ++i)
    if (a.call.tensors[i].role == tensor_role::sinks) sinks = &c.tensors[i];
  const auto sink_of = [&](std::int64_t head) { return sinks ? static_cast<const float *>(sinks->data)[head * sinks->stride[0]] : -INFINITY; };
  for (int i = 0; i < a.call.tensor_count; ++i) {
    const tensor_role role = a.call.tensors[i].role;
    if (role == tensor_role::output) fill(c.tensors[i], [&](const std::int64_t *at) { return bias ? bias[at[2]] : 0.0f; });
    if (role == tensor_role::attention_weights || role == tensor_role::scaled_scores || role == tensor_role::capped_scores)
      fill(c.tensors[i], [](const std::int64_t *) { return 0.0f; });
    if (role == tensor_role::masked_scores) fill(c.tensors[i], [](const std::int64_t *) { return -INFINITY; });
    if (role == tensor_role::lse) fill(c.tensors[i], [&](const std::int64_t *at) { return sink_of(at[1]); });
  }
}

status result_of(const artefact_info &a, target_id target, const call_context &context, int result) {
  if (result == 0) return {};
  const char *text = context.error_text[0] ? context.error_text : "no text";
  if (result == halide_error_code_out_of_memory)
    return failure(error_code::out_of_memory, "%s: target %s: there was no memory for the kernel's workspace (%s).", a.spec, info_of(target).name, text);
  return failure(error_code::kernel_failed, "%s: target %s: generated code failed with code %d: %s", a.spec, info_of(target).name, result, text);
}

/// Packed weights bind the target: another one may want other panels.
status match_weights(const artefact_info &a, const packed_weights_ref &w, std::optional<target_id> &forced) {
  if (forced && *forced != w.target)
    return failure(error_code::wrong_weights, "%s: these weights were packed for target %s, but the call asks for %s. Pack them for %s as well.", a.spec, info_of(w.target).name,
                   info_of(*forced).name, info_of(*forced).name);
  forced = w.target;
  return {};
}

} // namespace

status call(const artefact_info &a, const tensor_ref *tensors, int tensor_count, const double *numbers, int number_count, const call_options &options) noexcept {
  bound_call c;
  if (status s = bind(a, tensors, tensor_count, numbers, number_count, c); !s) return s;
  if (status s = check_threads(a.spec, options); !s) return s;
  std::optional<target_id> forced = options.target;
  if (c.weights)
    if (status s = match_weights(a, *c.weights, forced); !s) return s;
  const chosen_variant chosen = choose_variant(a, forced);
  if (!chosen.variant) return chosen.why;
  if (c.weights && c.weights->lanes != chosen.variant->panel_lanes)
    return failure(error_code::wrong_weights, "%s: these weights were packed in panels of %d features, and this library reads panels of %d. Pack them with the library that runs.", a.spec,
                   c.weights->lanes, chosen.variant->panel_lanes);
  const bool on_device = info_of(chosen.variant->target).device != device_kind::cpu;
  if (on_device || is_projected(a.n))
    if (status s = check_31_bits(a, c); !s) return s;
  if (c.batch == 0 || c.query == 0) return {};
  if (c.key == 0) {
    fill_without_keys(a, c);
    return {};
  }
  call_context context;
  context.threads = options.threads;
  context.pool = options.pool;
  context.memory = options.memory;
  context.cuda_context = options.cuda_context;
  context.cuda_stream = options.cuda_stream;
  arguments list(a, c, context, on_device);
  int result = choose_kernel(*chosen.variant, c.query, c.key).run(list.argv);
  if (on_device) result = list.leave_device(result);
  return result_of(a, chosen.variant->target, context, result);
}

} // namespace attune

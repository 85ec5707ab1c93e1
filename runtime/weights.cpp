#include "runtime/weights.hpp"
#include "HalideRuntime.h"
#include "runtime/bind.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/kernel.hpp"
#include "runtime/threads.hpp"
#include <cstdlib>
#include <memory>

namespace attune {
namespace {

constexpr std::size_t alignment = 64;
std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// One projection's weights as they were given, and where they go.
struct projection_plan {
  tensor_shape matrix_shape, bias_shape;
  bound_tensor matrix, bias; ///< bias.shape is null where there is none
  packed_matrix packed;
  std::size_t matrix_bytes = 0, bias_bytes = 0;
  element_type matrix_element = element_type::f32, bias_element = element_type::f32;
};

float value_at(const void *data, element_type e, std::int64_t offset) {
  switch (e) {
    case element_type::f16: return static_cast<float>(static_cast<const f16_t *>(data)[offset]);
    case element_type::bf16: return static_cast<float>(static_cast<const bf16_t *>(data)[offset]);
    default: return static_cast<const float *>(data)[offset];
  }
}

/// Features out and in of a matrix: its last axis is model_dim, which is the features in, but out for the output projection.
void set_features(projection_plan &plan, projection p) {
  const axis_extent *axes = plan.matrix_shape.axes;
  const std::int64_t inner = std::int64_t{axes[0].extent} * axes[1].extent, model = axes[2].extent;
  plan.packed.features_in = p == projection::output ? inner : model;
  plan.packed.features_out = p == projection::output ? model : inner;
}

status plan_projection(const artefact_info &a, projection p, const tensor_ref &matrix, const tensor_ref &bias, int lanes, projection_plan &plan) {
  plan.matrix_shape = weight_shape(a.n, p, false);
  plan.bias_shape = weight_shape(a.n, p, true);
  if (!matrix.data) return failure(error_code::missing_tensor, "%s: %s was not given. Pass it before packing.", a.spec, plan.matrix_shape.name);
  if (status s = bind_weight(a, plan.matrix_shape, matrix, plan.matrix); !s) return s;
  if (plan.bias_shape.rank > 0 && !bias.data)
    return failure(error_code::missing_tensor, "%s: %s was not given, but the spec has this bias. Pass it before packing.", a.spec, plan.bias_shape.name);
  if (plan.bias_shape.rank == 0 && bias.data)
    return failure(error_code::wrong_count, "%s: %s was given, but the spec has no such bias. Leave it out, or let the spec have one.", a.spec, plan.bias_shape.name);
  if (bias.data)
    if (status s = bind_weight(a, plan.bias_shape, bias, plan.bias); !s) return s;
  plan.matrix_element = matrix.element;
  plan.bias_element = bias.element;
  set_features(plan, p);
  const std::size_t panels = static_cast<std::size_t>((plan.packed.features_out + lanes - 1) / lanes);
  plan.matrix_bytes = panels * static_cast<std::size_t>(plan.packed.features_in * lanes) * size_of(a.n.element);
  plan.bias_bytes = panels * static_cast<std::size_t>(lanes) * sizeof(float);
  return {};
}

/// The matrix as f32 [feature in, feature out], contiguous: what `pack` reads.
void gather(const projection_plan &plan, projection p, float *to) {
  const bound_tensor &m = plan.matrix;
  for (std::int64_t i = 0; i < m.extent[0]; ++i)
    for (std::int64_t j = 0; j < m.extent[1]; ++j)
      for (std::int64_t k = 0; k < m.extent[2]; ++k) {
        const std::int64_t inner = i * m.extent[1] + j, in = p == projection::output ? inner : k, out = p == projection::output ? k : inner;
        to[in * plan.packed.features_out + out] = value_at(m.data, plan.matrix_element, i * m.stride[0] + j * m.stride[1] + k * m.stride[2]);
      }
}

void gather_bias(const projection_plan &plan) {
  if (!plan.bias.shape) return;
  const bound_tensor &b = plan.bias;
  const std::int64_t inner = plan.bias_shape.rank == 2 ? b.extent[1] : 1, inner_stride = plan.bias_shape.rank == 2 ? b.stride[1] : 0;
  for (std::int64_t i = 0; i < b.extent[0]; ++i)
    for (std::int64_t j = 0; j < inner; ++j) plan.packed.bias[i * inner + j] = value_at(b.data, plan.bias_element, i * b.stride[0] + j * inner_stride);
}

int run_pack(const artefact_info &a, const artefact_variant &v, const projection_plan &plan, float *matrix, call_context &context) {
  const std::int32_t in = static_cast<std::int32_t>(plan.packed.features_in), out = static_cast<std::int32_t>(plan.packed.features_out), lanes = v.panel_lanes;
  halide_dimension_t matrix_axes[] = {{0, out, 1}, {0, in, out}};
  halide_dimension_t packed_axes[] = {{0, lanes * in, 1}, {0, (out + lanes - 1) / lanes, lanes * in}};
  halide_buffer_t from = {}, to = {};
  from.host = reinterpret_cast<std::uint8_t *>(matrix);
  from.type = {halide_type_float, 32};
  from.dimensions = 2;
  from.dim = matrix_axes;
  to.host = static_cast<std::uint8_t *>(plan.packed.data);
  to.type = a.n.element == element_type::f32 ? halide_type_t{halide_type_float, 32} : halide_type_t{halide_type_uint, 16};
  to.dimensions = 2;
  to.dim = packed_axes;
  void *user_context = &context;
  void *argv[] = {&user_context, &from, &to};
  return v.pack(argv);
}

status out_of_memory(const artefact_info &a, std::size_t bytes) {
  return failure(error_code::out_of_memory, "%s: there was no memory for packed weights (%zu bytes).", a.spec, bytes);
}

struct release_memory {
  void operator()(void *block) const { std::free(block); }
};
using memory_block = std::unique_ptr<void, release_memory>;
memory_block allocate(std::size_t bytes) { return memory_block(std::aligned_alloc(alignment, aligned(bytes + alignment))); }

/// Packs every projection into `block`, one after the other, each 64-byte aligned.
status pack_all(const artefact_info &a, const artefact_variant &v, projection_plan *plans, int count, const call_options &options, char *block) {
  call_context context;
  context.threads = options.threads;
  context.pool = options.pool;
  context.memory = options.memory;
  for (int i = 0; i < count; ++i) {
    projection_plan &plan = plans[i];
    plan.packed.data = block;
    plan.packed.bias = reinterpret_cast<float *>(block + aligned(plan.matrix_bytes));
    block += aligned(plan.matrix_bytes) + aligned(plan.bias_bytes);
    const std::size_t bytes = static_cast<std::size_t>(plan.packed.features_in * plan.packed.features_out) * sizeof(float);
    const memory_block matrix = allocate(bytes);
    if (!matrix) return out_of_memory(a, bytes);
    gather(plan, static_cast<projection>(i), static_cast<float *>(matrix.get()));
    std::memset(plan.packed.bias, 0, plan.bias_bytes);
    gather_bias(plan);
    if (const int result = run_pack(a, v, plan, static_cast<float *>(matrix.get()), context))
      return failure(error_code::kernel_failed, "%s: packing %s for target %s failed with code %d: %s", a.spec, plan.matrix_shape.name, info_of(v.target).name, result,
                     context.error_text);
  }
  return {};
}

} // namespace

status pack_weights(const artefact_info &a, const weight_refs &given, const call_options &options, detail::packed_memory &packed) noexcept {
  if (!is_projected(a.n)) return failure(error_code::wrong_weights, "%s: this spec has no projections: there are no weights to pack.", a.spec);
  if (status s = check_threads(a.spec, options); !s) return s;
  const chosen_variant chosen = choose_variant(a, options.target);
  if (!chosen.variant) return chosen.why;
  const artefact_variant &v = *chosen.variant;
  if (!v.pack) return failure(error_code::wrong_weights, "%s: target %s was emitted without pack_weights. Choose another target.", a.spec, info_of(v.target).name);
  const int count = a.n.output_dim > 0 ? 4 : 3;
  if (count == 3 && (given.matrices[3].data || given.biases[3].data))
    return failure(error_code::wrong_count, "%s: output weights were given, but the spec has no project_out. Leave them out.", a.spec);
  projection_plan plans[4];
  std::size_t bytes = 0;
  for (int i = 0; i < count; ++i) {
    if (status s = plan_projection(a, static_cast<projection>(i), given.matrices[i], given.biases[i], v.panel_lanes, plans[i]); !s) return s;
    bytes += aligned(plans[i].matrix_bytes) + aligned(plans[i].bias_bytes);
  }
  memory_block block = allocate(bytes);
  if (!block) return out_of_memory(a, bytes);
  if (status s = pack_all(a, v, plans, count, options, static_cast<char *>(block.get())); !s) return s;
  detail::packed_memory made;
  made.ref = {a.spec, a.hash, v.target, v.panel_lanes, count, {}};
  for (int i = 0; i < count; ++i) made.ref.matrices[i] = plans[i].packed;
  made.block = block.release();
  made.bytes = bytes;
  packed = std::move(made);
  return {};
}

namespace detail {

packed_memory::packed_memory(packed_memory &&other) noexcept : ref(other.ref), block(std::exchange(other.block, nullptr)), bytes(std::exchange(other.bytes, 0)) {}
packed_memory &packed_memory::operator=(packed_memory &&other) noexcept {
  std::swap(ref, other.ref);
  std::swap(block, other.block);
  std::swap(bytes, other.bytes);
  return *this;
}
packed_memory::~packed_memory() { std::free(block); }

status check_header(const artefact_info &info, const char *hash) noexcept {
  if (std::strcmp(info.hash, hash) == 0) return {};
  return failure(error_code::stale_header, "%s: this program was compiled with a header of hash %s, but the library has %s. Emit the spec again and compile the program with the new header.",
                 info.spec, hash, info.hash);
}

} // namespace detail
} // namespace attune

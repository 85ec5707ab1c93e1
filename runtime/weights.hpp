// The weights of a spec's projections: given once as views, packed once for one target, passed to every call. C++17.
#pragma once
#include "runtime/call.hpp"
#include <cstddef>

namespace attune {

/// Which weights of a spec. Axes of a matrix, in any order and with any strides (none need be contiguous), f32, f16 or bf16:
///   query   head, head_dim, model_dim       key, value   kv_head, head_dim | value_dim, model_dim (of `context` where there is one)
///   output  head, value_dim, model_dim (the features out)
/// A bias has the axes of its projection's features out: head, head_dim and so on; for output, model_dim.
enum class projection { query, key, value, output };
constexpr const char *name_of(projection p) {
  constexpr const char *names[] = {"query", "key", "value", "output"};
  return names[static_cast<int>(p)];
}

/// All weights of a spec, type erased. A tensor_ref without data is one that was not given.
struct weight_refs {
  tensor_ref matrices[4], biases[4]; ///< by projection
};

/// The axes and extents of one weight matrix or bias. Rank 0: the spec has none.
constexpr tensor_shape weight_shape(const numbers &n, projection p, bool of_bias) {
  tensor_shape s{};
  constexpr const char *matrix_names[] = {"query_weight", "key_weight", "value_weight", "output_weight"};
  constexpr const char *bias_names[] = {"query_bias", "key_bias", "value_bias", "output_bias"};
  s.name = of_bias ? bias_names[static_cast<int>(p)] : matrix_names[static_cast<int>(p)];
  if (!is_projected(n) || (p == projection::output && n.output_dim == 0)) return s;
  if (of_bias && !(p == projection::output ? n.output_bias : n.projection_bias)) return s;
  const axis_name heads = p == projection::query || p == projection::output ? axis_name::head : axis_name::kv_head;
  const axis_name dim = p == projection::value || p == projection::output ? axis_name::value_dim : axis_name::head_dim;
  const bool from_context = n.source == source_kind::cross_projection && (p == projection::key || p == projection::value);
  const axis_extent model{axis_name::model_dim, p == projection::output ? n.output_dim : from_context ? n.context_dim : n.model_dim};
  if (!(of_bias && p == projection::output)) {
    s.axes[s.rank++] = {heads, extent_of(n, heads)};
    s.axes[s.rank++] = {dim, extent_of(n, dim)};
  }
  if (!of_bias || p == projection::output) s.axes[s.rank++] = model;
  return s;
}

namespace detail {
/// Owns the memory behind a packed_weights_ref.
class packed_memory {
public:
  packed_memory() = default;
  packed_memory(packed_memory &&) noexcept;
  packed_memory &operator=(packed_memory &&) noexcept;
  ~packed_memory();

  packed_weights_ref ref;
  void *block = nullptr;
  std::size_t bytes = 0;
};
} // namespace detail

/// Packs for the target that options.target names, or that a call would take. The weights given are only read, and not
/// needed afterwards.
status pack_weights(const artefact_info &, const weight_refs &, const call_options &, detail::packed_memory &) noexcept;

/// Packed weights: opaque, move-only, safe to use from many threads. Calls run on the target that they were packed for.
template <class Spec> class packed_weights {
public:
  packed_weights() = default; ///< empty: a call with it says so
  explicit packed_weights(detail::packed_memory &&m) : memory_(std::move(m)) {}
  const packed_weights_ref *ref() const { return memory_.block ? &memory_.ref : nullptr; }
  target_id target() const { return memory_.ref.target; }
  std::size_t bytes() const { return memory_.bytes; }

private:
  detail::packed_memory memory_;
};

} // namespace attune

#include "runtime/merge.hpp"
#include "runtime/bind.hpp"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <new>
#include <vector>

namespace attune {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

bool is_same_view(const tensor_ref &a, const tensor_ref &b) {
  bool same = a.data == b.data && a.element == b.element && a.rank == b.rank;
  for (int i = 0; same && i < a.rank; ++i) same = a.axes[i] == b.axes[i] && a.extent[i] == b.extent[i] && a.stride[i] == b.stride[i];
  return same;
}

tensor_shape shape_of_output(const char *name, element_type element, bool written) {
  return {name, tensor_role::output, is_float(element) ? element : element_type::f32, written, false, 4,
          {{axis_name::batch}, {axis_name::head}, {axis_name::query}, {axis_name::value_dim}}};
}
tensor_shape shape_of_lse(const char *name, bool written) {
  return {name, tensor_role::lse, element_type::f32, written, false, 3, {{axis_name::batch}, {axis_name::head}, {axis_name::query}}};
}

/// The arguments of a merge as those of a kernel, so that they are checked and ordered like them: the whole result, and beside it
/// one part, as far as it is not the same memory.
struct merge_arguments {
  char name[40];
  signature call{};
  tensor_ref given[4];

  merge_arguments(const partial_result &whole, const partial_result *part, std::size_t number) {
    std::snprintf(name, sizeof name, part ? "merge, part %zu" : "merge", number);
    add(shape_of_output("output", whole.output.element, true), whole.output);
    add(shape_of_lse("lse", true), whole.lse);
    if (part && !is_same_view(part->output, whole.output)) add(shape_of_output("partial output", part->output.element, false), part->output);
    if (part && !is_same_view(part->lse, whole.lse)) add(shape_of_lse("partial lse", false), part->lse);
  }
  void add(const tensor_shape &shape, const tensor_ref &tensor) {
    given[call.tensor_count] = tensor;
    call.tensors[call.tensor_count++] = shape;
  }
  artefact_info info() const { return {name, "", numbers{}, call, nullptr, 0}; }
};

/// A tensor as its rows are read and written: strides in bytes, in the order batch, head, query[, value_dim].
struct strided {
  char *data = nullptr;
  element_type element = element_type::f32;
  std::int64_t stride[4] = {};

  strided() = default;
  explicit strided(const bound_tensor &t) : data(static_cast<char *>(t.data)), element(t.shape->element) {
    for (int a = 0; a < t.shape->rank; ++a) stride[a] = t.stride[a] * static_cast<std::int64_t>(size_of(element));
  }
  char *row(const std::int64_t *at) const { return data + at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2]; }
};
struct strided_result {
  strided output, lse;
  float lse_at(const std::int64_t *at) const { return *reinterpret_cast<const float *>(lse.row(at)); }
};

/// Checks the whole result beside one part (null: alone). `bound` is the part, or the whole result; `extent` its axes.
status bind_one(const partial_result &whole, const partial_result *part, std::size_t number, strided_result &bound, std::int64_t *extent) {
  const merge_arguments arguments(whole, part, number);
  const artefact_info info = arguments.info();
  bound_call c;
  if (status s = bind(info, arguments.given, info.call.tensor_count, nullptr, 0, c); !s) return s;
  bound.output = strided(c.tensors[0]), bound.lse = strided(c.tensors[1]);
  for (int i = 2; i < info.call.tensor_count; ++i) (info.call.tensors[i].role == tensor_role::lse ? bound.lse : bound.output) = strided(c.tensors[i]);
  std::copy_n(c.tensors[0].extent, 4, extent);
  return {};
}

template <class T> void add_scaled(float *sum, const char *from, std::int64_t step, float weight, int count) {
  for (int d = 0; d < count; ++d) sum[d] += weight * static_cast<float>(*reinterpret_cast<const T *>(from + d * step));
}
template <class T> void store(char *to, std::int64_t step, const float *sum, int count) {
  for (int d = 0; d < count; ++d) *reinterpret_cast<T *>(to + d * step) = T(sum[d]);
}

class merger {
public:
  /// Checks everything; nothing is written.
  status bind_all(const partial_result *parts, std::size_t count, const partial_result &whole) {
    parts_.resize(count);
    weights_.resize(count);
    if (status s = bind_one(whole, nullptr, 0, whole_, extent_); !s) return s;
    for (std::size_t i = 0; i < count; ++i)
      if (status s = bind_one(whole, &parts[i], i + 1, parts_[i], extent_); !s) return s;
    return {};
  }

  void run() {
    std::int64_t at[3];
    for (at[0] = 0; at[0] < extent_[0]; ++at[0])
      for (at[1] = 0; at[1] < extent_[1]; ++at[1])
        for (at[2] = 0; at[2] < extent_[2]; ++at[2]) merge_row(at);
  }

private:
  static constexpr int most_features = 256; ///< summed at a time

  /// exp(lse_i - lse) of each part; returns lse. A NaN makes all of them one.
  float weigh(const std::int64_t *at) {
    float largest = -infinity;
    for (const strided_result &part : parts_)
      if (const float l = part.lse_at(at); !(l <= largest)) largest = l;
    if (largest == -infinity) { // no part has a key
      std::fill(weights_.begin(), weights_.end(), 0.0f);
      return -infinity;
    }
    double total = 0;
    for (const strided_result &part : parts_) total += std::exp(static_cast<double>(part.lse_at(at)) - largest);
    for (std::size_t i = 0; i < parts_.size(); ++i) weights_[i] = static_cast<float>(std::exp(static_cast<double>(parts_[i].lse_at(at)) - largest) / total);
    return static_cast<float>(largest + std::log(total));
  }

  void merge_row(const std::int64_t *at) {
    const float lse = weigh(at);
    for (std::int64_t first = 0; first < extent_[3]; first += most_features) {
      const int n = static_cast<int>(std::min<std::int64_t>(most_features, extent_[3] - first));
      float sum[most_features] = {};
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (parts_[i].lse_at(at) == -infinity) continue;
        const strided &from = parts_[i].output;
        with_float(from.element, [&](auto type) { add_scaled<decltype(type)>(sum, from.row(at) + first * from.stride[3], from.stride[3], weights_[i], n); });
      }
      const strided &to = whole_.output;
      with_float(to.element, [&](auto type) { store<decltype(type)>(to.row(at) + first * to.stride[3], to.stride[3], sum, n); });
    }
    *reinterpret_cast<float *>(whole_.lse.row(at)) = lse; // after all reads: it may be a part's own
  }

  std::vector<strided_result> parts_;
  std::vector<float> weights_;
  strided_result whole_;
  std::int64_t extent_[4] = {}; ///< batch, head, query, value_dim
};

} // namespace

status try_merge(const partial_result *parts, std::size_t count, const partial_result &whole) noexcept {
  if (!parts && count > 0) return failure(error_code::wrong_count, "merge: %zu parts were announced, but the list of them is NULL.", count);
  try {
    merger m;
    if (status s = m.bind_all(parts, count, whole); !s) return s;
    m.run();
    return {};
  } catch (const std::bad_alloc &) {
    return failure(error_code::out_of_memory, "merge: there was no memory for the list of %zu parts.", count);
  }
}

} // namespace attune

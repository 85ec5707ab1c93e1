// Tensors with named axes: view (does not own), tensor (owns) and tensor_ref (type erased). C++17.
//
//   using namespace attune::axes;
//   attune::view<const float, batch<>, head<12>, query<>, head_dim<64>> q(data, batch_count, query_count);
//
// Axes stand outermost first and in any order, as the memory has them; the last one of query, key, value, hidden, context
// and output is contiguous. An extent in the type is checked by the compiler against the spec, one left out at the call.
#pragma once
#include "dsl/signature.hpp"
#include "runtime/element.hpp"
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace attune {

/// One axis of a view's type: its name, and its extent if it is known when the program is compiled.
template <axis_name A, int Extent = dynamic_extent> struct dim {
  static constexpr axis_extent value{A, Extent};
};

/// Short names for dim, in a namespace of their own because the language (dsl/) has properties of the same names.
namespace axes {
template <int N = dynamic_extent> using batch = dim<axis_name::batch, N>;
template <int N = dynamic_extent> using query = dim<axis_name::query, N>;
template <int N = dynamic_extent> using key = dim<axis_name::key, N>;
template <int N = dynamic_extent> using head = dim<axis_name::head, N>;
template <int N = dynamic_extent> using kv_head = dim<axis_name::kv_head, N>;
template <int N = dynamic_extent> using head_dim = dim<axis_name::head_dim, N>;
template <int N = dynamic_extent> using value_dim = dim<axis_name::value_dim, N>;
template <int N = dynamic_extent> using model_dim = dim<axis_name::model_dim, N>;
template <int N = dynamic_extent> using page = dim<axis_name::page, N>;
template <int N = dynamic_extent> using slot = dim<axis_name::slot, N>;
template <int N = dynamic_extent> using sequence_page = dim<axis_name::sequence_page, N>;
template <int N = dynamic_extent> using query_block = dim<axis_name::query_block, N>;
template <int N = dynamic_extent> using key_block = dim<axis_name::key_block, N>;
template <int N = dynamic_extent> using bucket = dim<axis_name::bucket, N>;
template <int N = dynamic_extent> using offset = dim<axis_name::offset, N>;
template <int N = dynamic_extent> using position = dim<axis_name::position, N>;
template <int N = dynamic_extent> using rotary_pair = dim<axis_name::rotary_pair, N>;
} // namespace axes

/// A tensor as the runtime sees it. Axes outermost first; extents in elements, strides in elements.
struct tensor_ref {
  void *data = nullptr;
  element_type element = element_type::f32;
  bool writable = false;
  int rank = 0;
  axis_name axes[maximum_rank] = {};
  std::int64_t extent[maximum_rank] = {}, stride[maximum_rank] = {};
};

namespace detail {
/// Fills `all` from the extents given: either one per axis, or one per axis that the type leaves open.
template <class... Dims> struct extents_of {
  static constexpr std::size_t rank = sizeof...(Dims);
  static constexpr std::size_t open = (std::size_t{0} + ... + (Dims::value.extent == dynamic_extent ? 1 : 0));
  using list = std::array<std::int64_t, rank>;

  /// A list as a caller writes it. An std::array alone would fill what a short list in braces lacks with 0.
  struct one_per_axis {
    list values{};
    constexpr one_per_axis(const list &given) : values(given) {}
    template <class... I, class = std::enable_if_t<(std::is_integral_v<I> && ...)>> constexpr one_per_axis(I... given) : values{static_cast<std::int64_t>(given)...} {
      static_assert(sizeof...(I) == rank, "give one extent and one stride for each axis of the view");
    }
  };

  static constexpr list fill(const std::int64_t *given, std::size_t count) {
    constexpr axis_extent dims[rank + 1] = {Dims::value...};
    list all{};
    std::size_t next = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      const bool take = count == rank || dims[i].extent == dynamic_extent;
      all[i] = take ? given[next++] : dims[i].extent;
    }
    return all;
  }
  static constexpr list contiguous(const list &extent) {
    list stride{};
    std::int64_t step = 1;
    for (std::size_t i = rank; i-- > 0; step *= extent[i]) stride[i] = step;
    return stride;
  }
};
} // namespace detail

/// Memory that someone else owns, seen as a tensor. T is const where the memory is only read.
template <class T, class... Dims> class view {
public:
  using shape = detail::extents_of<Dims...>;
  using extents = typename shape::list;
  static_assert(sizeof...(Dims) <= std::size_t(maximum_rank), "a view has at most 6 axes");

  T *data = nullptr;
  extents extent{}, stride{}; ///< outermost first, in elements

  constexpr view() = default;
  /// Contiguous, last axis innermost. The extents are those that the type leaves open, or all of them.
  template <class... I, class = std::enable_if_t<(std::is_integral_v<I> && ...)>> constexpr view(T *memory, I... given) : data(memory) {
    static_assert(sizeof...(I) == shape::open || sizeof...(I) == shape::rank, "give one extent for each axis that the view's type leaves open, or one for each axis");
    const std::int64_t list[sizeof...(I) + 1] = {static_cast<std::int64_t>(given)...};
    extent = shape::fill(list, sizeof...(I));
    stride = shape::contiguous(extent);
  }
  /// Any strides, in elements; the last axis must have stride 1 where the kernel needs it contiguous.
  constexpr view(T *memory, const typename shape::one_per_axis &all, const typename shape::one_per_axis &strides) : data(memory), extent(all.values), stride(strides.values) {}
  /// A view to write through is also one to read through.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>> constexpr view(const view<U, Dims...> &v) : data(v.data), extent(v.extent), stride(v.stride) {}

  static constexpr std::size_t rank() { return sizeof...(Dims); }
  constexpr std::int64_t size() const {
    std::int64_t n = 1;
    for (std::int64_t e : extent) n *= e;
    return n;
  }
  /// The element at these indices, outermost first. Not checked.
  template <class... I> constexpr T &operator()(I... index) const {
    static_assert(sizeof...(I) == sizeof...(Dims), "one index for each axis");
    const std::int64_t list[sizeof...(I) + 1] = {static_cast<std::int64_t>(index)...};
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < sizeof...(I); ++i) offset += list[i] * stride[i];
    return data[offset];
  }
};

/// A tensor that owns its memory: contiguous, 64-byte aligned, zero at first. Moves, does not copy.
template <class T, class... Dims> class tensor {
public:
  using shape = detail::extents_of<Dims...>;
  static_assert(std::is_trivially_copyable_v<T>, "a tensor's elements are plain numbers");

  /// The extents are those that the type leaves open, or all of them. Throws std::bad_alloc.
  template <class... I, class = std::enable_if_t<(std::is_integral_v<I> && ...)>> explicit tensor(I... given) : memory_(nullptr, given...) {
    const std::size_t bytes = static_cast<std::size_t>(memory_.size()) * sizeof(T);
    memory_.data = static_cast<T *>(::operator new(bytes + 64, std::align_val_t(64)));
    std::memset(static_cast<void *>(memory_.data), 0, bytes);
  }
  tensor(tensor &&other) noexcept : memory_(std::exchange(other.memory_, {})) {}
  tensor &operator=(tensor &&other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~tensor() { ::operator delete(memory_.data, std::align_val_t(64)); }

  T *data() const { return memory_.data; }
  T *begin() const { return data(); }
  T *end() const { return data() + size(); }
  std::int64_t size() const { return memory_.size(); }
  const typename shape::list &extent() const { return memory_.extent; }
  view<T, Dims...> read_write() const { return memory_; }
  view<const T, Dims...> read() const { return memory_; }
  operator view<T, Dims...>() const { return memory_; }
  operator view<const T, Dims...>() const { return memory_; }
  template <class... I> T &operator()(I... index) const { return memory_(index...); }

private:
  view<T, Dims...> memory_;
};

template <class T, class... Dims> tensor_ref erase(const view<T, Dims...> &v) {
  using element = element_of<std::remove_const_t<T>>;
  static_assert(element::known, "elements are float, f16_t, bf16_t, f8_e4m3_t, f8_e5m2_t, std::int8_t, std::int32_t, bool or std::uint8_t");
  constexpr axis_extent dims[sizeof...(Dims) + 1] = {Dims::value...};
  tensor_ref r;
  r.data = const_cast<void *>(static_cast<const void *>(v.data));
  r.element = element::value;
  r.writable = !std::is_const_v<T>;
  r.rank = static_cast<int>(sizeof...(Dims));
  for (std::size_t i = 0; i < sizeof...(Dims); ++i) {
    r.axes[i] = dims[i].axis;
    r.extent[i] = v.extent[i];
    r.stride[i] = v.stride[i];
  }
  return r;
}
template <class T, class... Dims> tensor_ref erase(const tensor<T, Dims...> &t) { return erase(t.read_write()); }

} // namespace attune

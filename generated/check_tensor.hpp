// One tensor of a checked call, in memory that tells on whoever touches what is not theirs. No Halide.
#pragma once
#include "dsl/reference/reference.hpp"
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace attune {

/// How the axes of a checked call's tensors lie in memory. `bshd` puts query or key before head; `strided` leaves gaps
/// after every row, and turns the axes of masks and inputs around.
enum class memory_order { bhsd, bshd, strided };
constexpr const char *name_of(memory_order o) {
  constexpr const char *names[] = {"bhsd", "bshd", "strided"};
  return names[static_cast<int>(o)];
}

/// The value with this number in stream `seed`: the sum of twelve uniform 16-bit numbers, brought to mean 0 and variance
/// 1, which is close to N(0,1) within +-6 and the same on every machine, as it needs no library function.
double normal_value(std::uint64_t seed, std::uint64_t index);
/// As normal_value, uniform in [0, 1).
double uniform_value(std::uint64_t seed, std::uint64_t index);

/// Pages of its own between two pages that may not be touched. The content ends at the page behind it, or begins right
/// after the page before it, so that a read or write past either end is a fault at once.
class guarded_memory {
public:
  enum class side { end, begin };
  guarded_memory(std::size_t bytes, side flush);
  ~guarded_memory();
  guarded_memory(guarded_memory &&other) noexcept;
  guarded_memory(const guarded_memory &) = delete;
  guarded_memory &operator=(const guarded_memory &) = delete;
  guarded_memory &operator=(guarded_memory &&) = delete;
  std::byte *data() const { return content_; }
  std::size_t size() const { return bytes_; }
  /// Whether the bytes of these pages around the content still hold the pattern they started with.
  bool surroundings_untouched() const;
  /// Every byte back to the pattern it started with.
  void wipe() const;
  /// From here on, a write is a fault.
  void forbid_writes() const;
  void allow_writes() const;

private:
  std::byte *pages_ = nullptr, *content_ = nullptr;
  std::size_t mapped_ = 0, bytes_ = 0;
};

/// A tensor with the axes of its shape. Every byte starts as 0xff: NaN in all float elements, inside and between them.
class check_tensor {
public:
  check_tensor(const tensor_shape &shape, std::vector<std::int64_t> extents, memory_order order, guarded_memory::side flush);

  const tensor_shape &shape() const { return shape_; }
  const std::vector<std::int64_t> &extents() const { return extents_; }
  const std::vector<std::int64_t> &strides() const { return strides_; } ///< in elements
  void *data() const { return memory_.data(); }
  const guarded_memory &memory() const { return memory_; }

  double get(const std::vector<std::int64_t> &indices) const;
  /// Rounds to the tensor's element.
  void set(const std::vector<std::int64_t> &indices, double value);
  /// The element's bytes as they lie in memory, zero-extended.
  std::uint32_t bits(const std::vector<std::int64_t> &indices) const;
  /// value(n) for the n-th element in row-major order, whatever the memory order.
  template <class F> void fill(const F &value) {
    std::uint64_t n = 0;
    for_each_offset([&](std::int64_t offset) { store(offset, value(n++)); });
  }
  /// visit(value) for every element in row-major order.
  template <class F> void for_each_value(const F &visit) const {
    for_each_offset([&](std::int64_t offset) { visit(load(offset)); });
  }
  scalar_tensor values() const;
  std::vector<std::uint32_t> all_bits() const;
  /// Whether every byte that belongs to no element, inside and around, still holds the pattern it started with.
  bool gaps_untouched() const;
  template <class F> void for_each(const F &visit) const {
    std::vector<std::int64_t> at(extents_.size(), 0);
    for (std::int64_t left = count(); left > 0; --left) {
      visit(at);
      for (std::size_t a = at.size(); a-- > 0 && ++at[a] == extents_[a];) at[a] = 0;
    }
  }
  std::int64_t count() const;
  /// The indices of the n-th element in row-major order.
  std::vector<std::int64_t> indices_of(std::int64_t n) const;

private:
  /// visit(offset in elements) for every element in row-major order: offsets are computed once for each row of the last axis.
  template <class F> void for_each_offset(const F &visit) const {
    const std::int64_t row = extents_.empty() ? 1 : extents_.back(), stride = extents_.empty() ? 0 : strides_.back();
    for (std::int64_t n = 0, all = count(); n < all; n += row) {
      const std::int64_t first = offset_of(indices_of(n));
      for (std::int64_t i = 0; i < row; ++i) visit(first + i * stride);
    }
  }
  std::int64_t offset_of(const std::vector<std::int64_t> &indices) const;
  std::uint32_t bits_at(std::int64_t offset) const;
  double load(std::int64_t offset) const;
  void store(std::int64_t offset, double value);
  tensor_shape shape_;
  std::vector<std::int64_t> extents_, strides_;
  guarded_memory memory_;
};

} // namespace attune

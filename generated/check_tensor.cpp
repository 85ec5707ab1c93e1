#include "generated/check_tensor.hpp"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace attune {
namespace {

constexpr std::byte untouched{0xff};
bool is_untouched(std::byte b) { return b == untouched; }

/// SplitMix64 (Steele, Lea, Flood 2014) as a function of the counter: no state, any order.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// A number that a float with a sign, exponents of this bias and so many bits of fraction can hold, from a double's own fields.
template <int fraction_bits, int bias> std::uint32_t encode_magnitude(double magnitude) {
  if (magnitude < std::ldexp(1.0, 1 - bias)) return static_cast<std::uint32_t>(magnitude * std::ldexp(1.0, bias - 1 + fraction_bits)); // no hidden bit
  return static_cast<std::uint32_t>((std::bit_cast<std::uint64_t>(magnitude) >> (52 - fraction_bits)) - (static_cast<std::uint64_t>(1023 - bias) << fraction_bits));
}

template <int fraction_bits, int bias> std::uint32_t encode_half(double x) {
  const std::uint32_t sign = std::signbit(x) ? 0x8000u : 0u, all_exponents = 0x7fffu & (~0u << fraction_bits);
  if (std::isnan(x)) return sign | all_exponents | 1u << (fraction_bits - 1);
  return sign | (std::isinf(x) ? all_exponents : encode_magnitude<fraction_bits, bias>(std::abs(x)));
}

template <int fraction_bits, int bias> double decode_half(std::uint32_t bits) {
  constexpr int exponents = 15 - fraction_bits;
  const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponents) - 1);
  const int fraction = static_cast<int>(bits & ((1u << fraction_bits) - 1)), hidden_bit = 1 << fraction_bits;
  double magnitude;
  if (exponent == (1 << exponents) - 1) magnitude = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else magnitude = std::ldexp(exponent == 0 ? fraction : fraction + hidden_bit, std::max(exponent, 1) - bias - fraction_bits);
  return bits & 0x8000u ? -magnitude : magnitude;
}

/// The code of e4m3: as its fields say, but for the NaN where another format would have 480.
std::uint32_t encode_e4m3(double x) {
  const std::uint32_t sign = std::signbit(x) ? 0x80u : 0u;
  if (std::isnan(x)) return sign | 0x7fu;
  return sign | encode_magnitude<3, 7>(std::abs(x));
}
double decode_e4m3(std::uint32_t code) {
  const int exponent = static_cast<int>(code >> 3) & 15, fraction = static_cast<int>(code & 7);
  if ((code & 0x7f) == 0x7f) return std::numeric_limits<double>::quiet_NaN();
  const double magnitude = std::ldexp(exponent == 0 ? fraction : fraction + 8, std::max(exponent, 1) - 10);
  return code & 0x80 ? -magnitude : magnitude;
}

std::uint32_t encode(element_type e, double x) {
  switch (e) {
    case element_type::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(x));
    case element_type::f16: return encode_half<10, 15>(round_to(e, x));
    case element_type::bf16: return encode_half<7, 127>(round_to(e, x));
    case element_type::boolean: return x != 0;
    case element_type::i32: return static_cast<std::uint32_t>(static_cast<std::int32_t>(x));
    case element_type::int8: return static_cast<std::uint32_t>(static_cast<std::int32_t>(round_to(e, x)));
    case element_type::e4m3: return encode_e4m3(round_to(e, x));
    case element_type::e5m2: return encode_half<10, 15>(round_to(e, x)) >> 8; // the upper half of an f16
  }
  return 0;
}

double decode(element_type e, std::uint32_t bits) {
  switch (e) {
    case element_type::f32: return std::bit_cast<float>(bits);
    case element_type::f16: return decode_half<10, 15>(bits);
    case element_type::bf16: return decode_half<7, 127>(bits);
    case element_type::boolean: return bits != 0;
    case element_type::i32: return static_cast<std::int32_t>(bits);
    case element_type::int8: return static_cast<std::int8_t>(bits);
    case element_type::e4m3: return decode_e4m3(bits);
    case element_type::e5m2: return decode_half<10, 15>(bits << 8);
  }
  return 0;
}

/// The order of the axes in memory, outermost first.
std::vector<std::size_t> axes_in_memory(const tensor_shape &shape, memory_order order) {
  std::vector<std::size_t> axes(static_cast<std::size_t>(shape.rank));
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  if (order == memory_order::bshd && shape.rank == 4) std::swap(axes[1], axes[2]);
  if (order == memory_order::strided && !shape.innermost_contiguous) std::reverse(axes.begin(), axes.end());
  return axes;
}

std::vector<std::int64_t> strides_of(const tensor_shape &shape, const std::vector<std::int64_t> &extents, memory_order order) {
  std::vector<std::int64_t> strides(extents.size());
  const std::vector<std::size_t> axes = axes_in_memory(shape, order);
  std::int64_t stride = 1;
  for (std::size_t a = axes.size(); a-- > 0;) {
    strides[axes[a]] = stride;
    stride *= std::max<std::int64_t>(extents[axes[a]], 1);
    if (order == memory_order::strided) stride += a == 0 ? 0 : 3;
  }
  return strides;
}

std::size_t span_bytes(const tensor_shape &shape, const std::vector<std::int64_t> &extents, const std::vector<std::int64_t> &strides) {
  std::int64_t last = 0;
  for (std::size_t a = 0; a < extents.size(); ++a) {
    if (extents[a] == 0) return 0;
    last += (extents[a] - 1) * strides[a];
  }
  return static_cast<std::size_t>(last + 1) * size_of(shape.element);
}

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

/// The pages between the first and the last.
void protect(std::byte *pages, std::size_t mapped, int how) {
  if (mapped > 2 * page_size() && mprotect(pages + page_size(), mapped - 2 * page_size(), how) != 0) throw std::runtime_error("a tensor of this call takes " + std::to_string(mapped >> 20) + " MiB, which the system does not give: choose fewer keys, queries or batch elements");
}

} // namespace

double normal_value(std::uint64_t seed, std::uint64_t index) {
  std::int64_t sum = 0;
  for (std::uint64_t word = 0; word < 3; ++word)
    for (std::uint64_t bits = random_bits(seed, 3 * index + word), part = 0; part < 4; ++part, bits >>= 16) sum += static_cast<std::int64_t>(bits & 0xffff);
  return static_cast<double>(2 * sum - 12 * 65535) / (2 * 65536.0);
}

double uniform_value(std::uint64_t seed, std::uint64_t index) { return static_cast<double>(random_bits(seed, index) >> 11) * 0x1p-53; }

guarded_memory::guarded_memory(std::size_t bytes, side flush) : bytes_(bytes) {
  const std::size_t page = page_size();
  const std::size_t inside = (bytes + page - 1) / page * page;
  mapped_ = inside + 2 * page;
  void *const mapping = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  pages_ = static_cast<std::byte *>(mapping);
  content_ = flush == side::begin ? pages_ + page : pages_ + page + inside - bytes;
  allow_writes();
  wipe();
}

void guarded_memory::wipe() const {
  const std::size_t inside = mapped_ - 2 * page_size();
  if (inside > 0) std::memset(pages_ + page_size(), static_cast<int>(untouched), inside);
}

guarded_memory::~guarded_memory() {
  if (pages_) munmap(pages_, mapped_);
}

guarded_memory::guarded_memory(guarded_memory &&other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)), content_(other.content_), mapped_(other.mapped_), bytes_(other.bytes_) {}

bool guarded_memory::surroundings_untouched() const {
  return std::all_of(pages_ + page_size(), content_, is_untouched) && std::all_of(content_ + bytes_, pages_ + mapped_ - page_size(), is_untouched);
}

void guarded_memory::forbid_writes() const { protect(pages_, mapped_, PROT_READ); }
void guarded_memory::allow_writes() const { protect(pages_, mapped_, PROT_READ | PROT_WRITE); }

check_tensor::check_tensor(const tensor_shape &shape, std::vector<std::int64_t> extents, memory_order order, guarded_memory::side flush)
    : shape_(shape), extents_(std::move(extents)), strides_(strides_of(shape_, extents_, order)), memory_(span_bytes(shape_, extents_, strides_), flush) {}

std::int64_t check_tensor::count() const { return std::accumulate(extents_.begin(), extents_.end(), std::int64_t{1}, std::multiplies<>()); }

std::vector<std::int64_t> check_tensor::indices_of(std::int64_t n) const {
  std::vector<std::int64_t> indices(extents_.size());
  for (std::size_t a = indices.size(); a-- > 0; n /= extents_[a]) indices[a] = n % extents_[a];
  return indices;
}

std::int64_t check_tensor::offset_of(const std::vector<std::int64_t> &indices) const {
  if (indices.size() != extents_.size()) throw std::invalid_argument("check: a tensor is read with the wrong number of indices");
  std::int64_t offset = 0;
  for (std::size_t a = 0; a < indices.size(); ++a) {
    if (indices[a] < 0 || indices[a] >= extents_[a]) throw std::out_of_range("check: a tensor is read outside its extents");
    offset += indices[a] * strides_[a];
  }
  return offset;
}

std::uint32_t check_tensor::bits_at(std::int64_t offset) const {
  static_assert(std::endian::native == std::endian::little);
  const std::size_t size = size_of(shape_.element);
  std::uint32_t result = 0;
  std::memcpy(&result, memory_.data() + static_cast<std::size_t>(offset) * size, size);
  return result;
}

double check_tensor::load(std::int64_t offset) const { return decode(shape_.element, bits_at(offset)); }

void check_tensor::store(std::int64_t offset, double value) {
  const std::size_t size = size_of(shape_.element);
  const std::uint32_t pattern = encode(shape_.element, value);
  std::memcpy(memory_.data() + static_cast<std::size_t>(offset) * size, &pattern, size);
}

std::uint32_t check_tensor::bits(const std::vector<std::int64_t> &indices) const { return bits_at(offset_of(indices)); }

double check_tensor::get(const std::vector<std::int64_t> &indices) const { return load(offset_of(indices)); }

void check_tensor::set(const std::vector<std::int64_t> &indices, double value) { store(offset_of(indices), value); }

scalar_tensor check_tensor::values() const {
  scalar_tensor result(extents_);
  std::size_t n = 0;
  for_each_value([&](double value) { result.values[n++] = value; });
  return result;
}

std::vector<std::uint32_t> check_tensor::all_bits() const {
  std::vector<std::uint32_t> result;
  for_each_offset([&](std::int64_t offset) { result.push_back(bits_at(offset)); });
  return result;
}

bool check_tensor::gaps_untouched() const {
  const std::size_t size = size_of(shape_.element);
  if (static_cast<std::size_t>(count()) * size < memory_.size()) { // there are gaps
    std::vector<std::byte> gaps(memory_.data(), memory_.data() + memory_.size());
    for_each_offset([&](std::int64_t offset) { std::fill_n(gaps.begin() + offset * static_cast<std::int64_t>(size), size, untouched); });
    if (!std::all_of(gaps.begin(), gaps.end(), is_untouched)) return false;
  }
  return memory_.surroundings_untouched();
}

} // namespace attune

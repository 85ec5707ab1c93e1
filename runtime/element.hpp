// Storage types of the elements that C++17 has no type for, and which element type a C++ type stores. C++17.
#pragma once
#include "dsl/vocabulary.hpp"
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace attune {
namespace detail {
inline std::uint32_t bits_of(float x) {
  std::uint32_t b;
  std::memcpy(&b, &x, sizeof b);
  return b;
}
inline float float_of(std::uint32_t b) {
  float x;
  std::memcpy(&x, &b, sizeof x);
  return x;
}

/// Shifts right and rounds to nearest, ties to even.
constexpr std::uint32_t rounded_shift(std::uint32_t x, int by) {
  const std::uint32_t half = 1u << (by - 1), odd = (x >> by) & 1u;
  return (x + half - 1u + odd) >> by;
}

inline std::uint16_t f16_bits(float x) {
  const std::uint32_t b = bits_of(x), sign = (b >> 16) & 0x8000u, magnitude = b & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu)); // NaN stays quiet
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);                                 // rounds beyond 65504
  if (magnitude >= 0x38800000u) return static_cast<std::uint16_t>(sign | rounded_shift(magnitude - 0x38000000u, 13));
  if (magnitude < 0x33000000u) return static_cast<std::uint16_t>(sign);                                            // below half of 2^-24
  const int shift = 126 - static_cast<int>(magnitude >> 23);                                                       // subnormal
  return static_cast<std::uint16_t>(sign | rounded_shift((magnitude & 0x7fffffu) | 0x800000u, shift));
}
inline float f16_value(std::uint16_t h) {
  const std::uint32_t sign = (h & 0x8000u) << 16, exponent = (h >> 10) & 31u, fraction = h & 0x3ffu;
  if (exponent == 31) return float_of(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return float_of(sign | ((exponent + 112u) << 23) | (fraction << 13));
  const float value = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -value : value;
}
inline std::uint16_t bf16_bits(float x) {
  const std::uint32_t b = bits_of(x);
  if ((b & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((b >> 16) | 0x40u); // NaN stays quiet
  return static_cast<std::uint16_t>(rounded_shift(b, 16));
}

/// f32 to an 8-bit float of so many fraction bits and this exponent bias, to nearest even; `largest` is the greatest code of a number,
/// where all that is larger ends: OFP8's saturating conversion. NaN gives 0x7f, which is one in both formats.
inline std::uint8_t f8_bits(float x, int fraction_bits, int bias, std::uint32_t largest) {
  const std::uint32_t b = bits_of(x), sign = (b >> 24) & 0x80u, magnitude = b & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint8_t>(sign | 0x7fu);
  const int dropped = 23 - fraction_bits, least = 128 - bias; // the f32 exponent of the smallest normal number
  const int exponent = static_cast<int>(magnitude >> 23);
  std::uint32_t code = 0;
  if (exponent >= least) code = rounded_shift(magnitude, dropped) - (static_cast<std::uint32_t>(least - 1) << fraction_bits);
  else if (least - exponent <= fraction_bits + 1) code = rounded_shift((magnitude & 0x7fffffu) | 0x800000u, dropped + least - exponent);
  return static_cast<std::uint8_t>(sign | (code > largest ? largest : code));
}
inline float e4m3_value(std::uint8_t code) {
  const std::uint32_t sign = (code & 0x80u) << 24, magnitude = code & 0x7fu;
  if (magnitude == 0x7fu) return float_of(sign | 0x7fc00000u);
  if (magnitude >= 8) return float_of(sign | ((magnitude << 20) + 0x3c000000u));
  const float value = static_cast<float>(magnitude) * 0x1p-9f;
  return sign ? -value : value;
}
} // namespace detail

/// IEEE binary16. Conversion from float rounds to nearest, ties to even; NaN and infinity stay what they are.
struct f16_t {
  std::uint16_t bits = 0;
  f16_t() = default;
  explicit f16_t(float x) : bits(detail::f16_bits(x)) {}
  explicit operator float() const { return detail::f16_value(bits); }
};

/// bfloat16: the upper half of a float. Conversion from float rounds to nearest, ties to even.
struct bf16_t {
  std::uint16_t bits = 0;
  bf16_t() = default;
  explicit bf16_t(float x) : bits(detail::bf16_bits(x)) {}
  explicit operator float() const { return detail::float_of(static_cast<std::uint32_t>(bits) << 16); }
};

/// OFP8 e4m3: no infinity, one NaN for each sign. Conversion from float rounds to nearest, ties to even, and ends at 448.
struct f8_e4m3_t {
  std::uint8_t bits = 0;
  f8_e4m3_t() = default;
  explicit f8_e4m3_t(float x) : bits(detail::f8_bits(x, 3, 7, 0x7e)) {}
  explicit operator float() const { return detail::e4m3_value(bits); }
};

/// OFP8 e5m2: the upper half of an f16. Conversion from float rounds to nearest, ties to even, and ends at 57344, infinity too.
struct f8_e5m2_t {
  std::uint8_t bits = 0;
  f8_e5m2_t() = default;
  explicit f8_e5m2_t(float x) : bits(detail::f8_bits(x, 2, 15, 0x7b)) {}
  explicit operator float() const { return detail::f16_value(static_cast<std::uint16_t>(bits << 8)); }
};

/// Calls f with a value of the type that stores an is_float element.
template <class F> void with_float(element_type e, F f) {
  if (e == element_type::f16) f(f16_t());
  else if (e == element_type::bf16) f(bf16_t());
  else f(float());
}

/// element_of<T>::known says whether T stores an element; ::value says which.
template <class T> struct element_of { static constexpr bool known = false; static constexpr element_type value = element_type::f32; };
namespace detail {
template <element_type E> struct known_element { static constexpr bool known = true; static constexpr element_type value = E; };
} // namespace detail
template <> struct element_of<float> : detail::known_element<element_type::f32> {};
template <> struct element_of<f16_t> : detail::known_element<element_type::f16> {};
template <> struct element_of<bf16_t> : detail::known_element<element_type::bf16> {};
template <> struct element_of<std::int32_t> : detail::known_element<element_type::i32> {};
template <> struct element_of<bool> : detail::known_element<element_type::boolean> {};
template <> struct element_of<std::int8_t> : detail::known_element<element_type::int8> {};
template <> struct element_of<f8_e4m3_t> : detail::known_element<element_type::e4m3> {};
template <> struct element_of<f8_e5m2_t> : detail::known_element<element_type::e5m2> {};
template <> struct element_of<std::uint8_t> : detail::known_element<element_type::boolean> {};

} // namespace attune

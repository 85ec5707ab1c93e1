// f16, bf16, e4m3 and e5m2: all values there and back, rounding to nearest even, infinities and NaN.
#include "runtime/tensor.hpp"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace attune;

namespace {
/// A 16-bit value as the format's definition says: sign, exponent bits, fraction bits.
double defined(std::uint16_t bits, int fraction_bits) {
  const int exponent_bits = 15 - fraction_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1), fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

template <class T> void check_format(int fraction_bits) {
  for (int i = 0; i < 0x10000; ++i) {
    T x;
    x.bits = static_cast<std::uint16_t>(i);
    const double value = defined(x.bits, fraction_bits);
    if (std::isnan(value)) {
      REQUIRE(std::isnan(static_cast<float>(x)));
      REQUIRE(std::isnan(static_cast<float>(T(static_cast<float>(x)))));
      continue;
    }
    REQUIRE(static_cast<double>(static_cast<float>(x)) == value);
    REQUIRE(T(static_cast<float>(value)).bits == x.bits);
    T next;
    next.bits = static_cast<std::uint16_t>(i + 1);
    const double above = defined(next.bits, fraction_bits);
    if (!std::isfinite(value) || !std::isfinite(above) || (i & 0x7fff) == 0x7fff) continue;
    const float middle = static_cast<float>((value + above) / 2); // exact: f32 has more bits than both formats
    REQUIRE(T(middle).bits == (i % 2 == 0 ? x.bits : next.bits));
    REQUIRE(T(std::nextafter(middle, static_cast<float>(value))).bits == x.bits);
    REQUIRE(T(std::nextafter(middle, static_cast<float>(above))).bits == next.bits);
  }
}
/// An 8-bit value as OFP8 defines it: sign, exponent, `fraction_bits` of fraction. e4m3 has numbers where others have infinities.
double defined8(int code, int fraction_bits, int bias) {
  const int exponent = (code & 0x7f) >> fraction_bits, fraction = code & ((1 << fraction_bits) - 1), top = 0x7f >> fraction_bits;
  const double sign = code & 0x80 ? -1 : 1;
  if (fraction_bits == 3 ? (code & 0x7f) == 0x7f : exponent == top && fraction != 0) return std::nan("");
  if (fraction_bits == 2 && exponent == top) return sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

template <class T> void check_format8(int fraction_bits, int bias, int largest) {
  for (int i = 0; i < 256; ++i) {
    T x;
    x.bits = static_cast<std::uint8_t>(i);
    const double value = defined8(i, fraction_bits, bias);
    INFO(i);
    if (std::isnan(value)) {
      REQUIRE(std::isnan(static_cast<float>(x)));
      REQUIRE(std::isnan(static_cast<float>(T(static_cast<float>(x)))));
      continue;
    }
    REQUIRE(static_cast<double>(static_cast<float>(x)) == value);
    REQUIRE(std::signbit(static_cast<float>(x)) == std::signbit(value));
    if ((i & 0x7f) > largest) continue;
    REQUIRE(T(static_cast<float>(value)).bits == i);
    if ((i & 0x7f) == largest) continue;
    const double above = defined8(i + 1, fraction_bits, bias);
    const float middle = static_cast<float>((value + above) / 2);
    REQUIRE(T(middle).bits == i + (i & 1));
    REQUIRE(T(std::nextafter(middle, static_cast<float>(value))).bits == i);
    REQUIRE(T(std::nextafter(middle, static_cast<float>(above))).bits == i + 1);
  }
  for (const float x : {INFINITY, 1e30f, static_cast<float>(defined8(largest, fraction_bits, bias)) * 1.2f}) {
    REQUIRE(T(x).bits == largest);
    REQUIRE(T(-x).bits == (largest | 0x80));
  }
  for (const float x : {0.0f, 1e-30f, 1e-44f}) REQUIRE(T(x).bits == 0);
}
} // namespace

TEST_CASE("e4m3: every value and every midpoint; what is larger ends at 448") { check_format8<f8_e4m3_t>(3, 7, 0x7e); }
TEST_CASE("e5m2: every value and every midpoint; what is larger ends at 57344") { check_format8<f8_e5m2_t>(2, 15, 0x7b); }
TEST_CASE("f16: every value and every midpoint") { check_format<f16_t>(10); }
TEST_CASE("bf16: every value and every midpoint") { check_format<bf16_t>(7); }

TEST_CASE("values beyond the largest become infinite from half a step on") {
  CHECK(f16_t(65519.996f).bits == 0x7bff);
  CHECK(f16_t(65520.0f).bits == 0x7c00);
  CHECK(f16_t(-65520.0f).bits == 0xfc00);
  CHECK(bf16_t(std::numeric_limits<float>::max()).bits == 0x7f80);
  CHECK(f16_t(INFINITY).bits == 0x7c00);
  CHECK(bf16_t(-INFINITY).bits == 0xff80);
  CHECK(std::isnan(static_cast<float>(f16_t(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(std::isnan(static_cast<float>(bf16_t(std::numeric_limits<float>::signaling_NaN()))));
}

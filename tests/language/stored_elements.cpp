// Stored elements as generated code reads them: every code of 8 bits against the format's definition.
#include "dsl/pipeline/element.hpp"
#include "runtime/element.hpp"
#include <catch2/catch.hpp>
#include <cmath>

namespace {
using namespace attune;

/// All 256 codes, as f32.
Halide::Buffer<float> loaded(element_type e) {
  Halide::Buffer<std::uint8_t> codes(256);
  for (int i = 0; i < 256; ++i) codes(i) = static_cast<std::uint8_t>(i);
  Halide::Var i;
  Halide::Func out;
  out(i) = load_f32(Halide::reinterpret(stored_type(e), codes(i)), e);
  out.vectorize(i, 16);
  return out.realize({256});
}

/// The value that the runtime's type gives, whose own test knows the formats by their definition.
template <class T> void agrees(element_type e) {
  const Halide::Buffer<float> got = loaded(e);
  for (int i = 0; i < 256; ++i) {
    T x;
    x.bits = static_cast<std::uint8_t>(i);
    const float expected = static_cast<float>(x);
    INFO(name_of(e) << " code " << i);
    if (std::isnan(expected)) REQUIRE(std::isnan(got(i)));
    else REQUIRE(detail::bits_of(got(i)) == detail::bits_of(expected));
  }
}
} // namespace

TEST_CASE("every code of e4m3 and e5m2 loads exactly: denormals, both zeros, infinities and NaN too") {
  agrees<f8_e4m3_t>(element_type::e4m3);
  agrees<f8_e5m2_t>(element_type::e5m2);
}

TEST_CASE("every code of int8 loads exactly") {
  const Halide::Buffer<float> got = loaded(element_type::int8);
  for (int i = 0; i < 256; ++i) CHECK(got(i) == static_cast<float>(static_cast<std::int8_t>(i)));
}

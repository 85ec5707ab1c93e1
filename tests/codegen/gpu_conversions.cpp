// Stored elements and f32 by integer arithmetic on the OpenCL device: every stored value, and every tie between two of 16 bits.
#include "dsl/pipeline/gpu_element.hpp"
#include "runtime/element.hpp"
#include "tests/codegen/gpu_trial.hpp"
#include <bit>
#include <catch2/catch.hpp>

using namespace attune;
using gpu_trial::decode;

namespace {

constexpr int count = 1 << 16;

/// One value per thread, on the OpenCL device.
template <class To, class From> std::vector<To> on_device(const std::vector<From> &from, const std::function<Halide::Expr(Halide::Expr)> &convert) {
  Halide::Buffer<From> input(const_cast<From *>(from.data()), static_cast<int>(from.size()));
  input.set_host_dirty();
  Halide::Var i, block, thread;
  Halide::Func f;
  f(i) = convert(input(i));
  f.gpu_tile(i, block, thread, 64);
  Halide::Buffer<To> output = f.realize({static_cast<int>(from.size())}, Halide::Target(info_of(target_id::opencl).halide_target));
  output.copy_to_host();
  return std::vector<To>(output.begin(), output.end());
}

bool same(double a, double b) { return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b); }

} // namespace

TEST_CASE("every 16-bit value becomes the f32 that it stands for, and comes back") {
  const auto e = GENERATE(element_type::f16, element_type::bf16);
  CAPTURE(name_of(e));
  std::vector<std::uint16_t> stored(count);
  for (int i = 0; i < count; ++i) stored[i] = static_cast<std::uint16_t>(i);
  const auto bits = on_device<std::uint32_t>(stored, [&](Halide::Expr x) { return Halide::reinterpret<std::uint32_t>(gpu_load_f32(x, e, device_kind::opencl)); });
  std::vector<float> loaded(count);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    loaded[i] = std::bit_cast<float>(bits[i]);
    wrong += !same(loaded[i], decode(stored[i], e));
  }
  CHECK(wrong == 0);
  const auto back = on_device<std::uint16_t>(loaded, [&](Halide::Expr x) { return gpu_store_as(x, e); });
  wrong = 0;
  for (int i = 0; i < count; ++i) wrong += std::isnan(loaded[i]) ? !std::isnan(decode(back[i], e)) : back[i] != stored[i];
  CHECK(wrong == 0);
}

TEST_CASE("every 8-bit value becomes the f32 that it stands for") {
  const auto e = GENERATE(element_type::int8, element_type::e4m3, element_type::e5m2);
  CAPTURE(name_of(e));
  std::vector<std::uint8_t> stored(256);
  for (int i = 0; i < 256; ++i) stored[i] = static_cast<std::uint8_t>(i);
  const auto bits = on_device<std::uint32_t>(stored, [&](Halide::Expr x) {
    return Halide::reinterpret<std::uint32_t>(gpu_load_f32(Halide::reinterpret(stored_type(e), x), e, device_kind::opencl));
  });
  int wrong = 0;
  for (const std::uint8_t code : stored) {
    f8_e4m3_t four_bits;
    f8_e5m2_t five_bits;
    four_bits.bits = five_bits.bits = code;
    const float means = e == element_type::int8 ? static_cast<std::int8_t>(code) : e == element_type::e4m3 ? static_cast<float>(four_bits) : static_cast<float>(five_bits);
    wrong += !same(std::bit_cast<float>(bits[code]), means);
  }
  CHECK(wrong == 0);
}

TEST_CASE("halves round to even, and just beside them to the nearest") {
  const auto e = GENERATE(element_type::f16, element_type::bf16);
  CAPTURE(name_of(e));
  const int infinity = e == element_type::f16 ? 0x7c00 : 0x7f80;
  std::vector<float> values;
  std::vector<int> expected;
  for (int i = 0; i < infinity; ++i) {
    // Between the largest finite value and infinity the grid goes on as if there were one more exponent.
    const double low = decode(i, e), high = i + 1 < infinity ? decode(i + 1, e) : 2 * low - decode(i - 1, e);
    const auto half = static_cast<float>((low + high) / 2);
    if (e == element_type::bf16 && std::fpclassify(half) == FP_SUBNORMAL) continue; // a device may flush these
    values.insert(values.end(), {half, std::nextafter(half, 0.0f), std::nextafter(half, std::numeric_limits<float>::infinity())});
    expected.insert(expected.end(), {i + (i & 1), i, i + 1});
  }
  const auto stored = on_device<std::uint16_t>(values, [&](Halide::Expr x) { return gpu_store_as(x, e); });
  int wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) wrong += stored[i] != expected[i];
  CHECK(wrong == 0);
}

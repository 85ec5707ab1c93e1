// Each stage of the pipeline alone, just-in-time, against plain C++.
#include "catch2/catch.hpp"
#include "dsl/pipeline/elementary.hpp"
#include "dsl/pipeline/mask.hpp"
#include "dsl/pipeline/projection.hpp"
#include "dsl/pipeline/softmax.hpp"
#include "dsl/targets.hpp"
#include "small_operator.hpp"
#include <cstring>
#include <limits>

namespace {
using namespace attune;
using Halide::Buffer;
using Halide::Expr;
using Halide::Func;
using Halide::Var;

constexpr float infinity = std::numeric_limits<float>::infinity(), not_a_number = std::numeric_limits<float>::quiet_NaN();

const Halide::Target jit = Halide::Target(find_target("avx2")->halide_target).with_feature(Halide::Target::JIT);

std::uint32_t bits_of(float x) {
  std::uint32_t b;
  std::memcpy(&b, &x, 4);
  return b;
}

float float_of(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

/// f over a list of floats, in vectors of 8 as kernels run it.
template <class Out = float, class F> std::vector<Out> on_each(const std::vector<float> &in, F f) {
  Var x;
  Func g;
  Buffer<float> input(const_cast<float *>(in.data()), static_cast<int>(in.size()));
  g(x) = f(input(x));
  g.vectorize(x, 8, Halide::TailStrategy::GuardWithIf);
  Buffer<Out> out = g.realize({static_cast<int>(in.size())}, jit);
  return {out.begin(), out.end()};
}
} // namespace

namespace {
/// Every form of 2^x that weights are computed by: as near to it as it says down to 2^-116, 0 below (the language promises that number, so
/// it stands here as well), NaN whatever its payload.
template <class Exp2> void check_exp2(Exp2 exp2, double factor, double bound) {
  std::vector<float> x;
  for (int i = 0; i <= 116'000; ++i) x.push_back(-static_cast<float>(i) / 1000);
  const std::vector<float> y = on_each(x, exp2);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(y[i] / std::exp2(static_cast<double>(x[i])) / factor - 1));
  CHECK(worst < bound);
  for (const float zero : on_each({std::nextafter(-116.0f, -infinity), -126.0f, -127.0f, -1e30f, -infinity, -3e38f, masked_score - no_score}, exp2)) CHECK(bits_of(zero) == 0);
  for (const float nan : on_each({not_a_number, -not_a_number, float_of(0xffffffff), float_of(0x7fffffff), float_of(0x7f800001), float_of(0xff812345)}, exp2))
    CHECK((bits_of(nan) & 0x7fffffff) > 0x7f800000);
}
} // namespace

TEST_CASE("2^x for x <= 0") {
  check_exp2(exp2_nonpositive, 1, 2e-7);
  CHECK(on_each({0.0f}, exp2_nonpositive)[0] == 1.0f);
}

TEST_CASE("2^x with fast-math") {
  check_exp2(exp2_nonpositive_fast_math, 1, 2e-7);
  CHECK(on_each({0.0f}, exp2_nonpositive_fast_math)[0] == 1.0f);
}

TEST_CASE("2^x before it is cut to bf16: right on the average after the cut") {
  check_exp2(exp2_nonpositive_before_cut, 1.00282, 1.8e-3); // the cut itself loses up to 3.9e-3
  std::vector<float> x;
  for (int i = 0; i < 100'000; ++i) x.push_back(-static_cast<float>(i) / 10'000);
  const std::vector<float> y = on_each(x, exp2_nonpositive_before_cut);
  double mean = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mean += float_of(bits_of(y[i]) & 0xffff0000) / std::exp2(static_cast<double>(x[i])) / static_cast<double>(x.size());
  CHECK(std::abs(mean - 1) < 1e-4);
}

TEST_CASE("tanh keeps its relative accuracy near zero") {
  std::vector<float> x;
  for (int i = -20'000; i <= 20'000; ++i) x.push_back(static_cast<float>(i) * 1e-3f), x.push_back(static_cast<float>(i) * 1e-9f);
  const std::vector<float> y = on_each(x, tanh_expr);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != 0) worst = std::max(worst, std::abs(y[i] / std::tanh(static_cast<double>(x[i])) - 1));
  CHECK(worst < 5e-7);
}

TEST_CASE("tanh keeps its sign beside zeros of the same expression") {
  const std::vector<float> x{-3.0f, -1.0f, -9.5f, 3.0f};
  const std::vector<float> y = on_each(x, [](Expr v) { return max(v, 0.0f) + select(v > 0.0f, 1.0f, 0.0f) + tanh_expr(v); });
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(y[i] == Approx(std::max(x[i], 0.0f) + (x[i] > 0 ? 1 : 0) + std::tanh(x[i])));
}

TEST_CASE("a masked score holds one value whatever it was, an allowed one its bits") {
  const std::vector<float> x{1.0f, not_a_number, infinity, -infinity, -3e38f};
  for (const float y : on_each(x, [](Expr s) { return masked(s, s > Expr(3.4e38f) && s < Expr(-1.0f)); })) CHECK(y == masked_score);
  const std::vector<float> kept = on_each(x, [](Expr s) { return masked(s, Halide::reinterpret<int>(s) != 12345); });
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(bits_of(kept[i]) == bits_of(x[i]));
}

TEST_CASE("a row is empty by its mask, not by its scores, and NaN is never empty") {
  const auto empty = [](float maximum, float sum) {
    return on_each({maximum}, [sum](Expr m) { return Halide::select(is_empty_row(m, m * 0.0f + sum), 1.0f, 0.0f); })[0] == 1.0f;
  };
  CHECK(empty(no_score, 0));
  CHECK(empty(masked_score, 7));
  CHECK_FALSE(empty(-5e5f, 1));
  CHECK_FALSE(empty(-8.9e29f, 1));
  const std::vector<float> nan_row = on_each({not_a_number}, [](Expr sum) { return Halide::select(is_empty_row(Expr(masked_score), sum), 1.0f, 0.0f); });
  CHECK(nan_row[0] == 0.0f);
  CHECK(bits_of(on_each({0.0f}, [](Expr sum) { return log_sum_exp(Expr(no_score), sum); })[0]) == 0xff800000);
}

TEST_CASE("f16 and bf16: every stored value survives, floats round to nearest even") {
  std::vector<float> all;
  for (std::uint32_t i = 0; i < 65536; ++i) all.push_back(float_of(i << 16));
  const std::vector<std::uint16_t> bf16 = on_each<std::uint16_t>(all, [](Expr x) { return store_as(x, element_type::bf16); });
  for (std::uint32_t i = 0; i < 65536; ++i)
    if (!std::isnan(all[i])) REQUIRE(bf16[i] == i);
    else REQUIRE((bf16[i] & 0x7fff) > 0x7f80);

  Var x;
  Func widen, again;
  widen(x) = load_f32(Halide::cast<std::uint16_t>(x), element_type::f16);
  again(x) = store_as(widen(x), element_type::f16);
  widen.compute_root().vectorize(x, 8);
  Buffer<std::uint16_t> f16 = again.realize({65536}, jit);
  for (int i = 0; i < 65536; ++i)
    if ((i & 0x7fff) <= 0x7c00) REQUIRE(f16(i) == i);
    else REQUIRE((f16(i) & 0x7fff) > 0x7c00);

  const std::vector<std::uint16_t> rounded =
      on_each<std::uint16_t>({1.0f + 0x1p-11f, 1.0f + 0x1.8p-10f, 65519.0f, 65520.0f, 0x1p-24f, 0x1p-25f, 0x1.8p-24f, -0.0f}, [](Expr v) { return store_as(v, element_type::f16); });
  CHECK(rounded == std::vector<std::uint16_t>{0x3c00, 0x3c02, 0x7bff, 0x7c00, 0x0001, 0x0000, 0x0002, 0x8000});
}

TEST_CASE("limits of key loops are those of the mask") {
  operator_description op = small_operator(1, 4);
  op.n.causal = causal_alignment::bottom_right;
  op.n.window = {setting::fixed, 5};
  call_arguments args(op);
  args.query.set(Buffer<float>(4, 10, 1, 1));
  args.key.set(Buffer<float>(4, 13, 1, 1));
  args.value.set(Buffer<float>(4, 13, 1, 1));
  Var q, i;
  Func f;
  const key_limits l = limits_of(op, args, q, q + 3, Expr(0));
  f(i, q) = Halide::mux(i, std::vector<Expr>{l.begin, l.full_begin, l.full_end, l.end});
  Buffer<int> got = f.realize({4, 7}, jit);
  for (int first = 0; first < 7; ++first) {
    CHECK(got(0, first) == std::max(0, first + 3 - 5));
    CHECK(got(1, first) == std::max(0, first + 3 + 3 - 5));
    CHECK(got(2, first) == std::min(13, first + 3 + 1));
    CHECK(got(3, first) == std::min(13, first + 3 + 3 + 1));
  }
}

TEST_CASE("a projection is x W + bias, and packing puts W where it looks") {
  constexpr int in = 7, out = 21, lanes = 8, rows = 5;
  Buffer<float> weight(out, in), input(in, rows), bias(24);
  for (int k = 0; k < in; ++k)
    for (int n = 0; n < out; ++n) weight(n, k) = static_cast<float>(n * 10 + k);
  input.for_each_element([&](int k, int r) { input(k, r) = static_cast<float>(k - 2 * r); });
  bias.for_each_element([&](int n) { bias(n) = static_cast<float>(n); });

  packing pack(element_type::f32, {lanes, false, false});
  pack.weight.set(weight);
  Buffer<float> packed = pack.packed.realize({lanes * in, 3}, jit);
  CHECK(packed(5, 2) == 0.0f); // past the last output feature

  operator_description op = small_operator(1, 4);
  op.n.source = source_kind::projection;
  op.n.model_dim = in;
  call_arguments args(op);
  projection p("y", in, out, {lanes, false, false}, element_type::f32, args.query_matrix);
  p.of([&](Expr feature, Expr row, Expr) { return input(feature, row); });
  args.query_matrix.panels.set(packed);
  args.query_matrix.bias.set(bias);
  Buffer<float> got = p.result.realize({out, rows, 1}, jit);
  for (int r = 0; r < rows; ++r)
    for (int n = 0; n < out; ++n) {
      float sum = bias(n);
      for (int k = 0; k < in; ++k) sum += input(k, r) * weight(n, k);
      CHECK(got(n, r, 0) == sum);
    }
}

TEST_CASE("a projection over pairs of bf16: two features of an output side by side") {
  constexpr int in = 6, out = 21, lanes = 8, rows = 5;
  Buffer<float> weight(out, in), bias(24);
  Buffer<std::uint16_t> input(in, rows);
  weight.for_each_element([&](int n, int k) { weight(n, k) = static_cast<float>(n - 3 * k); }); // whole numbers below 256: exact as bf16
  input.for_each_element([&](int k, int r) { input(k, r) = static_cast<std::uint16_t>(bits_of(static_cast<float>(k - 2 * r)) >> 16); });
  bias.for_each_element([&](int n) { bias(n) = static_cast<float>(n); });

  packing pack(element_type::bf16, {lanes, true, false});
  pack.weight.set(weight);
  Buffer<std::uint16_t> packed = pack.packed.realize({lanes * in, 3}, jit);
  CHECK(packed(2 * 3 + 1, 0) == bits_of(weight(3, 1)) >> 16);             // row of features 0 and 1: feature 1 of output 3
  CHECK(packed(2 * lanes + 2 * 3, 1) == bits_of(weight(8 + 3, 2)) >> 16); // row of features 2 and 3: feature 2 of output 11
  CHECK(packed(2 * 5 + 1, 2) == 0);                                       // past the last output feature

  operator_description op = small_operator(1, 4);
  op.n.source = source_kind::projection;
  op.n.model_dim = in;
  op.n.element = element_type::bf16;
  call_arguments args(op);
  projection p("y", in, out, {lanes, true, false}, element_type::bf16, args.query_matrix);
  p.of([&](Expr feature, Expr row, Expr) { return input(feature, row); });
  args.query_matrix.panels.set(packed);
  args.query_matrix.bias.set(bias);
  Buffer<float> got = p.accumulated.realize({out, rows, 1}, jit);
  for (int r = 0; r < rows; ++r)
    for (int n = 0; n < out; ++n) {
      float sum = bias(n);
      for (int k = 0; k < in; ++k) sum += static_cast<float>(k - 2 * r) * weight(n, k);
      CHECK(got(n, r, 0) == sum);
    }
}

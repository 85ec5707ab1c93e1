// exp and tanh as generated code computes them.
#include "dsl/pipeline/elementary.hpp"
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <vector>

namespace {
using Halide::Buffer, Halide::Expr;

Buffer<float> evaluate(Expr (*f)(Expr), const std::vector<float> &at) {
  Buffer<float> in(static_cast<int>(at.size()));
  std::copy(at.begin(), at.end(), in.begin());
  Halide::Var i;
  Halide::Func out;
  out(i) = f(in(i));
  out.vectorize(i, 8, Halide::TailStrategy::GuardWithIf);
  return out.realize({in.width()});
}

/// Distance to the exact value, in units of its last place in f32.
double ulps(float got, double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::abs(got - exact) / std::ldexp(1.0, exponent - std::numeric_limits<float>::digits);
}

/// Normal numbers of both signs over all exponents up to 2^limit, a thousand for each.
std::vector<float> everywhere(int limit) {
  std::vector<float> xs;
  for (int exponent = -125; exponent <= limit; ++exponent)
    for (int step = 0; step < 1000; ++step)
      for (const float sign : {1.0f, -1.0f}) xs.push_back(sign * std::ldexp(1.0f + static_cast<float>(step) / 1000.0f, exponent));
  return xs;
}
const float infinity = std::numeric_limits<float>::infinity();
const float not_a_number = std::numeric_limits<float>::quiet_NaN();
} // namespace

TEST_CASE("tanh is within 1.5 ulp everywhere, also next to zero") {
  std::vector<float> xs = everywhere(126);
  for (int i = 0; i < 1'000'000; ++i) xs.push_back(0.5f + 10e-6f * static_cast<float>(i)); // where its two formulas meet, up to where it is 1
  const Buffer<float> ys = evaluate(attune::tanh_expr, xs);
  double worst = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) worst = std::max(worst, ulps(ys(static_cast<int>(i)), std::tanh(double(xs[i]))));
  CHECK(worst < 1.5);
}

TEST_CASE("tanh of softcap is within 4 ulp everywhere, and never beyond 1") {
  std::vector<float> xs = everywhere(126);
  for (const float x : {0.0f, infinity, -infinity}) xs.push_back(x);
  const Buffer<float> ys = evaluate(attune::softcap_tanh_expr, xs);
  double worst = 0;
  bool inside = true;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const float y = ys(static_cast<int>(i));
    inside = inside && std::abs(y) <= 1;
    if (xs[i] != 0) worst = std::max(worst, ulps(y, std::tanh(double(xs[i]))));
    else CHECK(y == 0);
  }
  CHECK(worst < 4);
  CHECK(inside);
  CHECK(std::isnan(evaluate(attune::softcap_tanh_expr, {not_a_number})(0)));
}

TEST_CASE("exp is within 6 ulp") {
  std::vector<float> xs;
  for (int i = -87000; i <= 88000; i += 7) xs.push_back(static_cast<float>(i) / 1000.0f);
  const Buffer<float> ys = evaluate(attune::exp_expr, xs);
  double worst = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) worst = std::max(worst, ulps(ys(static_cast<int>(i)), std::exp(double(xs[i]))));
  CHECK(worst < 6);
}

TEST_CASE("ends of the range, and NaN") {
  const Buffer<float> t = evaluate(attune::tanh_expr, {0.0f, 1e30f, -1e30f, infinity, -infinity, not_a_number});
  CHECK((t(0) == 0 && t(1) == 1 && t(2) == -1 && t(3) == 1 && t(4) == -1 && std::isnan(t(5))));
  const Buffer<float> e = evaluate(attune::exp_expr, {0.0f, -1e30f, -infinity, 1e30f, infinity, not_a_number});
  CHECK((e(0) == 1 && e(1) == 0 && e(2) == 0 && e(3) == infinity && e(4) == infinity && std::isnan(e(5))));
}

TEST_CASE("a NaN of any payload and sign stays one, in tanh's and softcap's formulas") {
  std::vector<float> nans;
  for (const std::uint32_t bits : {0x7fc00000u, 0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffffffffu}) nans.push_back(std::bit_cast<float>(bits));
  for (Expr (*f)(Expr) : {attune::tanh_expr, attune::softcap_tanh_expr}) {
    const Buffer<float> ys = evaluate(f, nans);
    for (int i = 0; i < ys.width(); ++i) CHECK(std::isnan(ys(i)));
  }
}

TEST_CASE("no call to libm's tanh") {
  std::ostringstream text;
  text << attune::tanh_expr(Halide::Var("x") * 1.0f);
  CHECK(text.str().find("tanh") == std::string::npos);
}

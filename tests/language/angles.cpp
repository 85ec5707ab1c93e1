// Sines and cosines of positional embeddings as generated code computes them, against long double.
#include "dsl/pipeline/angles.hpp"
#include <catch2/catch.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

namespace {
using namespace attune;

/// The largest error over all pairs of `count` features, and positions `first`, `first` + `step` and so on.
double worst_error(double theta, int count, int first, int step, int positions) {
  Halide::Var i("i"), n("n");
  Halide::Func out("angles");
  const Halide::Buffer<std::uint64_t> fractions = turn_fractions(theta, count);
  const sine_cosine at = sine_cosine_of(first + n * step, fractions(i));
  out(i, n) = Halide::Tuple(at.sine, at.cosine);
  out.vectorize(i, 8, Halide::TailStrategy::GuardWithIf);
  Halide::Realization r = out.realize({count / 2, positions});
  const Halide::Buffer<float> sine = r[0], cosine = r[1];
  double worst = 0;
  for (int p = 0; p < positions; ++p)
    for (int pair = 0; pair < count / 2; ++pair) {
      const long double angle = (first + static_cast<std::int64_t>(p) * step) * std::pow(static_cast<long double>(theta), -2.0L * pair / count);
      worst = std::max({worst, static_cast<double>(std::abs(sine(pair, p) - std::sin(angle))), static_cast<double>(std::abs(cosine(pair, p) - std::cos(angle)))});
    }
  return worst;
}
} // namespace

TEST_CASE("sine and cosine at positions 0 to 131,072, for three thetas") {
  for (const double theta : {10000.0, 500000.0, 1000000.0}) CHECK(worst_error(theta, 128, 0, 37, 3543) < 1.3e-7);
}

TEST_CASE("sine and cosine at positions below 0, and as far as an i32 reaches") {
  CHECK(worst_error(10000, 64, -2000, 1, 2001) < 1.3e-7);
  CHECK(worst_error(10000, 64, -1073741824, 1048577, 2047) < 1.3e-7);
}

// The exponential of softmax and the hyperbolic tangent of softcap, seen through kernels: two keys with scores x and 0, and
// values 1 and 0, give 1 / (1 + exp(-x)), and LSE log(1 + exp(x)).
#include "variant_kernels_under_test.hpp"
#include "tests/support/target_under_test.hpp"
#include <cmath>

using namespace attune;

namespace {

/// A fine grid around 0, then both signs out to 1e5 by factors of 1.1.
std::vector<double> grid() {
  std::vector<double> points;
  for (int i = -2000; i <= 2000; ++i) points.push_back(static_cast<float>(i) / 64.0f);
  for (double x = 30; x <= 1e5; x *= 1.1)
    for (double sign : {-1.0, 1.0}) points.push_back(static_cast<float>(sign * x));
  for (double x = 1e-6; x < 1; x *= 2)
    for (double sign : {-1.0, 1.0}) points.push_back(static_cast<float>(sign * x));
  return points;
}

check_case one_query_per(const std::vector<double> &points) {
  check_case c;
  c.queries = static_cast<int>(points.size());
  c.keys = 2;
  return c;
}

} // namespace

TEST_CASE("weights and log-sum-exp for scores from -1e5 to 1e5") {
  const std::vector<double> points = grid();
  kernel_call<variants::biased> call(one_query_per(points));
  call.tensor("query").fill([](auto) { return 0.0; });
  call.tensor("value").fill([](auto n) { return n < 8 ? 1.0 : 0.0; });
  call.tensor("additive_mask").for_each([&](const auto &at) { call.tensor("additive_mask").set(at, at[1] == 0 ? points[at[0]] : 0.0); });
  call.must_agree();
  double worst = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double x = points[i], weight = call.output({0, 0, static_cast<std::int64_t>(i), 0}), expected = 1 / (1 + std::exp(-x));
    if (x < -80) continue; // the smallest f32 is near
    // a score is f32: its rounding alone may move the exponential by |x| 2^-24
    worst = std::max(worst, std::abs(weight / expected - 1) / (1e-6 + std::abs(x) * 0x1p-22));
  }
  INFO("relative error of a weight against 1e-6 + |x| 2^-22: " << worst);
  CHECK(worst <= 1);
}

TEST_CASE("many equal scores add up: the sum of 5,000 exponentials") {
  check_case how;
  how.queries = 3, how.keys = 5000;
  kernel_call<variants::biased> call(how);
  call.tensor("query").fill([](auto) { return 0.0; });
  for (double level : {-100.0, 0.0, 100.0}) {
    call.tensor("additive_mask").fill([&](auto) { return level; });
    call.must_run();
    CHECK(std::abs(call.lse({0, 0, 1}) - (level + std::log(5000.0))) <= 2e-6 * std::abs(level + std::log(5000.0)));
  }
}

TEST_CASE("softcap for scores from -1e5 to 1e5") {
  const std::vector<double> points = grid();
  kernel_call<variants::fixed_softcap> call(one_query_per(points));
  check_tensor &query = call.tensor("query"), &key = call.tensor("key");
  query.for_each([&](const auto &at) { query.set(at, at[3] == 0 ? points[at[2]] : 0.0); });
  key.for_each([&](const auto &at) { key.set(at, at[2] == 0 && at[3] == 0 ? 1.0 : 0.0); });
  call.tensor("value").for_each([&](const auto &at) { call.tensor("value").set(at, at[2] == 0 ? 1.0 : 0.0); });
  call.must_agree();
}

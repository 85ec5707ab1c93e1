// What sinks, sigmoid and returned scores promise beside their formulas: rows without keys, sinks of -inf, NaN and infinity.
#include "output_kernels_under_test.hpp"
#include "tests/support/target_under_test.hpp"
#include <cmath>
#include <limits>
#include <map>

using namespace attune;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();

check_case shape(int batch, int queries, int keys) {
  check_case c;
  c.batch = batch, c.queries = queries, c.keys = keys;
  return c;
}
} // namespace

TEST_CASE("a row with no key but a sink: output 0, LSE the sink") {
  for (const auto &[queries, keys] : {std::pair{3, 2}, {40, 17}, {5, 0}}) {
    INFO(queries << " queries, " << keys << " keys");
    kernel_call<outputs::sinks_causal> call(shape(2, queries, keys)); // bottom-right: the leading rows are empty
    for (int h = 0; h < 4; ++h) call.tensor("sinks").set({h}, 2.5 * h - 3);
    call.must_agree();
    for (int h = 0; h < 4; ++h) {
      CHECK(call.output({1, h, 0, 31}) == 0);
      CHECK(std::abs(call.lse({1, h, 0}) - (2.5 * h - 3)) < 1e-5);
    }
  }
}

TEST_CASE("a sink of -inf is none, and one far above the scores takes all weight") {
  for (int queries : {2, 50}) {
    kernel_call<outputs::sinks_causal> call(shape(1, queries, 60));
    for (double sink : {-infinity, -1e30, -1e20, 60.0}) {
      INFO("sink " << sink);
      call.tensor("sinks").set({1}, sink);
      call.must_agree();
    }
    CHECK(std::abs(call.output({0, 1, 1, 0})) < 1e-15);
    call.tensor("sinks").set({1}, -infinity);
    kernel_call<outputs::sinks_causal> empty(shape(1, queries + 60, 60));
    empty.tensor("sinks").set({1}, -infinity);
    empty.must_agree();
    CHECK(empty.lse({0, 1, 0}) == -infinity);
  }
}

TEST_CASE("a NaN in a head's sink comes out in its rows, and in no other head's") {
  for (int queries : {2, 50}) {
    kernel_call<outputs::sinks_causal> call(shape(1, queries, 60));
    call.tensor("sinks").set({2}, not_a_number);
    call.must_run();
    const auto is_nan = [](std::uint32_t bits) { return (bits & 0x7fffffffu) > 0x7f800000u; };
    call.tensor("output").for_each([&](const auto &at) {
      if (is_nan(call.tensor("output").bits(at)) != (at[1] == 2)) FAIL_CHECK("head " << at[1] << ", query " << at[2]);
    });
  }
}

TEST_CASE("sigmoid weighs masked keys 0, whatever K and V hold there, and a row without keys gives 0") {
  for (int queries : {1, 45}) {
    kernel_call<outputs::sigmoid_masked> call(shape(2, queries, 100));
    check_tensor &mask = call.tensor("boolean_mask");
    mask.for_each([&](const auto &at) {
      if (at[2] % 3 == 0 || (at[0] == 1 && at[1] == 0)) mask.set(at, 0);
    });
    call.must_agree();
    const auto before = call.tensor("output").all_bits();
    for (const char *name : {"key", "value"})
      for (double poison : {not_a_number, infinity}) {
        check_tensor &t = call.tensor(name);
        t.for_each([&](const auto &at) {
          if (at[2] % 3 == 0) t.set(at, poison);
        });
        call.must_run();
        CHECK(call.tensor("output").all_bits() == before);
      }
    CHECK(call.output({1, 0, 0, 5}) == 0);
  }
}

TEST_CASE("sigmoid of huge scores is 0 or 1") {
  for (int queries : {1, 45}) {
    kernel_call<outputs::sigmoid_plain> call(shape(1, queries, 70));
    check_tensor &q = call.tensor("query"), &k = call.tensor("key");
    q.for_each([&](const auto &at) { q.set(at, at[3] == 0 ? 1e30 * (at[2] % 2 == 0 ? 1 : -1) : 0); });
    k.for_each([&](const auto &at) { k.set(at, at[3] == 0 ? (at[2] % 3 == 0 ? 1 : -1) : 0); });
    call.must_agree();
    CHECK(call.tensor("attention_weights").get({0, 0, 0, 3}) == 1);
    CHECK(call.tensor("attention_weights").get({0, 0, 0, 4}) == 0);
    q.set({0, 0, 0, 0}, not_a_number);
    call.must_run();
    CHECK(std::isnan(call.output({0, 0, 0, 0})));
  }
}

TEST_CASE("returned scores: masked ones are -inf, and NaN in K shows only where the score exists") {
  kernel_call<outputs::all_scores> call(shape(1, 20, 60));
  call.must_agree();
  CHECK(call.tensor("masked_scores").get({0, 0, 0, 59}) == -infinity);
  CHECK(std::isfinite(call.tensor("scaled_scores").get({0, 0, 0, 59})));
  check_tensor &k = call.tensor("key");
  for (int d = 0; d < 24; ++d) k.set({0, 0, 59, d}, not_a_number); // causal hides it from all queries but the last
  call.must_run();
  CHECK(std::isnan(call.tensor("scaled_scores").get({0, 0, 0, 59})));
  CHECK(call.tensor("masked_scores").get({0, 0, 0, 59}) == -infinity);
  CHECK(call.tensor("attention_weights").get({0, 0, 0, 59}) == 0);
}

TEMPLATE_TEST_CASE("weights of a row add up to 1 however large its scores are, and are 0 where all of them are too low to count", "", outputs::weights_f32, outputs::weights_bf16) {
  for (const int queries : {1, 60})
    for (const double factor : {1.0, 1e2, 1e4, 1e8}) { // of query and of key
      kernel_call<TestType> call(shape(1, queries, 70));
      check_tensor &q = call.tensor("query"), &k = call.tensor("key"), &weights = call.tensor("attention_weights");
      for (check_tensor *t : {&q, &k}) t->for_each([&](const auto &at) { t->set(at, t->get(at) * factor); });
      call.must_run();
      std::map<std::pair<std::int64_t, std::int64_t>, double> sums;
      weights.for_each([&](const auto &at) { sums[{at[1], at[2]}] += weights.get(at); });
      for (const auto &[row, sum] : sums) {
        INFO(queries << " queries, factor " << factor << ", head " << row.first << ", query " << row.second);
        CHECK(sum == Approx(1).margin(1e-5));
      }
      q.for_each([&](const auto &at) { q.set(at, -1e15); });
      k.for_each([&](const auto &at) { k.set(at, 1e15); });
      call.must_run();
      bool zero = true;
      weights.for_each([&](const auto &at) { zero = zero && weights.get(at) == 0; });
      CHECK(zero);
    }
}

// What must hold whatever the schedule: empty rows, NaN and infinity (looked at as bits, since generated code is compiled
// with fast-math), hugely negative scores, order of the operations on a score, numbers of a call.
#include "variant_kernels_under_test.hpp"
#include "tests/support/target_under_test.hpp"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace attune;
using Catch::WithinAbs;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

check_case shape(int batch, int queries, int keys, memory_order order = memory_order::bhsd) {
  check_case c;
  c.batch = batch, c.queries = queries, c.keys = keys, c.order = order;
  return c;
}

bool is_nan_f32(std::uint32_t bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }

/// Runs with poison in `tensor_name` at the keys that nobody attends to, and requires the bits that come without it.
template <class Call> void require_no_effect(Call &call, const char *tensor_name, const std::vector<int> &masked_keys) {
  call.must_run();
  const auto before = call.tensor("output").all_bits();
  CHECK(call.differences(call.reference()) == "");
  check_tensor &t = call.tensor(tensor_name);
  for (double poison : {not_a_number, infinity, -infinity}) {
    INFO(tensor_name << " holds " << poison << " at masked keys");
    for (int key : masked_keys)
      t.for_each([&](const auto &at) {
        if (at[2] == key) t.set(at, poison);
      });
    call.must_run();
    CHECK(call.tensor("output").all_bits() == before);
  }
}

/// A mask over 100 keys that hides keys 0, 13 and all from 70 on, from every query.
template <class Call> std::vector<int> hide_some(Call &call) {
  std::vector<int> hidden{0, 13};
  for (int k = 70; k < 100; ++k) hidden.push_back(k);
  check_tensor &mask = call.tensor("boolean_mask");
  mask.for_each([&](const auto &at) {
    if (std::find(hidden.begin(), hidden.end(), at[2]) != hidden.end()) mask.set(at, 0);
    if (at[2] == 1) mask.set(at, 1);
  });
  return hidden;
}

} // namespace

TEST_CASE("NaN and infinity in K at masked keys have no effect") {
  for (memory_order order : {memory_order::bhsd, memory_order::strided}) {
    kernel_call<variants::finite_masked> finite(shape(2, 37, 100, order));
    require_no_effect(finite, "key", hide_some(finite));
    kernel_call<variants::anything_masked> anything(shape(2, 37, 100, order));
    require_no_effect(anything, "key", hide_some(anything));
    kernel_call<variants::anything_masked_bf16> half(shape(2, 37, 100, order));
    require_no_effect(half, "key", hide_some(half));
  }
}

TEST_CASE("NaN and infinity in V at masked keys have no effect where the spec says that they may stand there") {
  kernel_call<variants::anything_masked> call(shape(2, 37, 100));
  require_no_effect(call, "value", hide_some(call));
  kernel_call<variants::anything_masked_bf16> half(shape(2, 37, 100));
  require_no_effect(half, "value", hide_some(half));
}

TEST_CASE("keys past a batch's length are not read, in K and in V") {
  for (int length : {0, 1, 15, 16, 63, 64, 65, 99}) {
    INFO("length " << length);
    kernel_call<variants::lengths> call(shape(1, 19, 100));
    call.tensor("key_lengths").set({0}, length);
    std::vector<int> beyond;
    for (int k = length; k < 100; ++k) beyond.push_back(k);
    require_no_effect(call, "key", beyond);
    require_no_effect(call, "value", beyond);
  }
}

TEST_CASE("keys that causal hides from every query are not read") {
  kernel_call<variants::top_left> call(shape(1, 20, 200)); // a query sees keys up to its own number
  std::vector<int> beyond;
  for (int k = 128; k < 200; ++k) beyond.push_back(k);
  require_no_effect(call, "key", beyond);
}

TEST_CASE("a NaN query gives NaN in its own row only") {
  kernel_call<variants::plain> call(shape(2, 21, 70));
  call.must_run();
  const auto before = call.tensor("output").values();
  check_tensor &q = call.tensor("query"), &out = call.tensor("output");
  for (int d = 0; d < 32; ++d) q.set({1, 2, 17, d}, not_a_number);
  call.must_run();
  out.for_each([&](const auto &at) {
    const bool poisoned = at[0] == 1 && at[1] == 2 && at[2] == 17;
    CHECK(is_nan_f32(out.bits(at)) == poisoned);
    if (!poisoned) CHECK(out.get(at) == before(at));
  });
  CHECK(is_nan_f32(call.tensor("lse").bits({1, 2, 17})));
}

TEST_CASE("a NaN key or value that is attended to shows") {
  for (const char *name : {"key", "value"}) {
    kernel_call<variants::plain> call(shape(1, 9, 70));
    call.tensor(name).set({0, 1, 33, 5}, not_a_number);
    call.must_run();
    for (int q = 0; q < 9; ++q) {
      CHECK(is_nan_f32(call.tensor("output").bits({0, 1, q, 5})));
      CHECK_FALSE(is_nan_f32(call.tensor("output").bits({0, 0, q, 5})));
    }
  }
}

TEST_CASE("an empty row stays 0 and -inf when its query is NaN") {
  kernel_call<variants::top_left> full(shape(1, 3, 0));
  full.tensor("query").fill([](auto) { return not_a_number; });
  full.must_run();
  full.tensor("output").for_each([&](const auto &at) { CHECK(full.tensor("output").bits(at) == 0); });
  kernel_call<variants::causal_lengths> call(shape(1, 6, 4));
  call.tensor("query").fill([](auto) { return not_a_number; });
  call.must_run();
  for (int q = 0; q < 2; ++q) {
    CHECK(call.tensor("output").bits({0, 0, q, 3}) == 0);
    CHECK(call.lse({0, 0, q}) == -infinity);
  }
  CHECK(is_nan_f32(call.tensor("output").bits({0, 0, 2, 3})));
}

TEST_CASE("scores that are equal and hugely negative average equally") {
  for (double level : {0.0, -1e3, -1e10, -1e29, -9e29, -1e30, -1e38, -3.4e38}) {
    INFO("level " << level);
    kernel_call<variants::biased> call(shape(1, 5, 33));
    call.tensor("query").fill([](auto) { return 0.0; });
    call.tensor("additive_mask").fill([&](auto) { return level; });
    call.must_run();
    for (int d = 0; d < 8; ++d) {
      double mean = 0;
      for (int k = 0; k < 33; ++k) mean += call.tensor("value").get({0, 0, k, d}) / 33;
      CHECK_THAT(call.output({0, 0, 4, d}), WithinAbs(mean, 4e-6));
    }
  }
}

TEST_CASE("an additive mask of -inf masks, one of -3.4e38 beside ordinary scores weighs nothing") {
  kernel_call<variants::biased> call(shape(1, 4, 20));
  check_tensor &mask = call.tensor("additive_mask");
  mask.for_each([&](const auto &at) { mask.set(at, at[1] == 7 ? 0.25 : at[0] < 2 ? -infinity : -3.4e38); });
  call.must_run();
  for (int q = 0; q < 4; ++q)
    for (int d = 0; d < 8; ++d) CHECK_THAT(call.output({0, 0, q, d}), WithinAbs(call.tensor("value").get({0, 0, 7, d}), 1e-6));
  mask.set({0, 7}, -infinity);
  call.must_run();
  for (int d = 0; d < 8; ++d) CHECK(call.tensor("output").bits({0, 0, 0, d}) == 0);
  CHECK(call.lse({0, 0, 0}) == -infinity);
}

TEST_CASE("a NaN in an additive mask makes its rows NaN, and no other") {
  kernel_call<variants::biased> call(shape(1, 4, 20));
  check_tensor &mask = call.tensor("additive_mask");
  mask.for_each([&](const auto &at) { mask.set(at, at[1] == 3 ? not_a_number : 0.0); });
  call.must_run();
  for (int q = 0; q < 4; ++q) CHECK(is_nan_f32(call.tensor("output").bits({0, 0, q, 5})));
  mask.for_each([&](const auto &at) { mask.set(at, at[0] == 1 && at[1] == 3 ? not_a_number : 0.0); });
  call.must_run();
  for (int q = 0; q < 4; ++q) CHECK(is_nan_f32(call.tensor("output").bits({0, 0, q, 5})) == (q == 1));
}

TEST_CASE("attention weights next to scores of any size: shares of one whole, equal where scores are equal") {
  for (double factor : {1e3, 1e5, 1e10, 1e28}) {
    INFO("queries times " << factor);
    kernel_call<variants::with_weights> call(shape(1, 33, 70));
    check_tensor &query = call.tensor("query");
    query.for_each([&](const auto &at) { query.set(at, factor * query.get(at)); });
    call.must_agree();
    call.tensor("key").fill([](auto) { return 1.0; }); // equal scores within each row
    call.must_agree();
  }
}

TEST_CASE("softcap comes before the mask: a masked key weighs nothing, a cap bounds the rest") {
  kernel_call<variants::fixed_softcap> call(shape(1, 1, 2)); // cap 2.5, scale 1
  call.tensor("query").fill([](auto n) { return n % 32 == 0 ? 1.0 : 0.0; });
  call.tensor("key").fill([](auto) { return 0.0; });
  for (int h = 0; h < 2; ++h) call.tensor("key").set({0, h, 0, 0}, 1e4);
  call.must_run();
  CHECK_THAT(call.lse({0, 0, 0}), WithinAbs(std::log(std::exp(2.5) + 1), 1e-6));
}

TEST_CASE("scale, softcap and window of a call") {
  for (double scale : {0.0, 0.05, 0.3}) // scores of a few units: the error bounds are for those
    for (double cap : {0.5, 3.0, 50.0})
      for (double window : {0.0, 1.0, 40.0, 1000.0}) {
        INFO("scale " << scale << ", softcap " << cap << ", window " << window);
        kernel_call<variants::all_at_call> call(shape(1, 45, 90));
        call.number(number_role::scale) = static_cast<float>(scale);
        call.number(number_role::softcap) = cap;
        call.number(number_role::window) = window;
        call.must_agree();
      }
}

TEST_CASE("ALiBi with the slopes of its paper: scores fall by hundreds within a row") {
  kernel_call<variants::alibi> call(shape(1, 600, 600)); // 4 heads: 2^-2, 2^-4, 2^-6, 2^-8; the spec divides by 64
  check_tensor &slope = call.tensor("slope");
  slope.for_each([&](const auto &at) { slope.set(at, std::ldexp(64.0, -2 * (static_cast<int>(at[0]) + 1))); });
  call.must_agree();
}

TEST_CASE("an operator that refuses empty rows refuses them, and writes nothing") {
  kernel_call<variants::refuses_empty_rows> good(shape(2, 5, 9));
  good.must_agree();
  kernel_call<variants::refuses_empty_rows> no_key(shape(2, 5, 9));
  no_key.tensor("key_lengths").set({1}, 0);
  CHECK(no_key.run().code == error_code::empty_row);
  no_key.tensor("output").for_each([&](const auto &at) { CHECK(no_key.tensor("output").bits(at) == 0xffffffffu); });
  kernel_call<variants::refuses_empty_rows> more_queries(shape(1, 5, 4));
  CHECK(more_queries.run().code == error_code::empty_row);
}

TEST_CASE("documents packed into one sequence do not see each other") {
  kernel_call<variants::packed_documents> call(shape(2, 97, 97));
  call.tensor("document").for_each([&](const auto &at) { call.tensor("document").set(at, at[1] < 20 ? 0 : at[1] < 21 ? 1 : at[1] < 80 ? 2 : 3); });
  call.must_agree();
  for (int d = 0; d < 32; ++d) CHECK(call.output({0, 0, 20, d}) == call.tensor("value").get({0, 0, 20, d})); // a document of one
}

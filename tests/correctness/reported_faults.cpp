// Faults that were reported against other attention kernels (tests/correctness/reported_faults.md), each with an answer that
// can be worked out by hand. A number in a test's name is the number in that list.
#include "reported_kernels_under_test.hpp"
#include "tests/support/target_under_test.hpp"
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

/// Every output element of these rows is exactly 0, and LSE is -inf.
template <class Call> void require_empty_rows(const Call &call, int first, int last, int value_dim) {
  for (int q = first; q <= last; ++q) {
    for (int d = 0; d < value_dim; ++d) CHECK(call.tensor("output").bits({0, 0, q, d}) == 0);
    CHECK(call.lse({0, 0, q}) == -infinity);
  }
}

/// A tensor of one head as the runtime takes it: [1, 1, length, 8], or shorter than it says its neighbours are.
tensor_ref of_length(std::vector<float> &memory, axis_name head, axis_name length_axis, axis_name dim_axis, std::int64_t length, bool writable) {
  memory.assign(8 * length, 1.0f);
  tensor_ref r;
  r.data = memory.data(), r.writable = writable, r.rank = 4;
  const axis_name axes[] = {axis_name::batch, head, length_axis, dim_axis};
  const std::int64_t extents[] = {1, 1, length, 8}, strides[] = {8 * length, 8 * length, 8, 1};
  for (int a = 0; a < 4; ++a) r.axes[a] = axes[a], r.extent[a] = extents[a], r.stride[a] = strides[a];
  return r;
}

} // namespace

TEST_CASE("1: five keys and six values are refused, and nothing is written") {
  using enum axis_name;
  std::vector<float> q, k, v, o;
  const tensor_ref tensors[] = {of_length(q, head, query, head_dim, 3, false), of_length(k, kv_head, key, head_dim, 5, false),
                                of_length(v, kv_head, key, value_dim, 6, false), of_length(o, head, query, value_dim, 3, true)};
  const status ended = call(artefact<reported::plain_8>::info(), tensors, 4, nullptr, 0, options_under_test());
  CHECK(ended.code == error_code::wrong_extent);
  const std::string text = ended.message();
  INFO(text);
  CHECK(text.find("key") != text.npos);
  CHECK(text.find('5') != text.npos);
  CHECK(text.find('6') != text.npos);
  CHECK(o == std::vector<float>(24, 1.0f));
}

TEST_CASE("2: a masked key may hold NaN, in K and in V") {
  kernel_call<reported::masked_4> call(shape(1, 2, 2));
  for (const char *name : {"query", "key", "value"}) call.tensor(name).fill([](auto n) { return static_cast<double>(n); });
  call.tensor("boolean_mask").fill([](auto n) { return n % 2 == 0; }); // key 1 is masked for both rows
  const auto require_value_0 = [&] {
    call.must_run();
    for (int q = 0; q < 2; ++q)
      for (int d = 0; d < 4; ++d) CHECK(call.output({0, 0, q, d}) == d);
    CHECK_THAT(call.lse({0, 0, 0}), WithinAbs(0.5 * (0 + 1 + 4 + 9), 1e-5));
    CHECK_THAT(call.lse({0, 0, 1}), WithinAbs(0.5 * (0 + 5 + 12 + 21), 1e-5));
  };
  require_value_0();
  for (double poison : {not_a_number, infinity, -infinity})
    for (const char *name : {"key", "value"}) {
      INFO(name << " of key 1 holds " << poison);
      for (int d = 0; d < 4; ++d) call.tensor(name).set({0, 0, 1, d}, poison);
      require_value_0();
    }
}

TEST_CASE("3: rows with an all-false mask are 0 and -inf, the others unharmed") {
  kernel_call<reported::masked_8> call(shape(1, 8, 8));
  call.tensor("boolean_mask").fill([](auto n) { return n / 8 < 4 && n % 8 < 4; });
  call.must_agree();
  require_empty_rows(call, 4, 7, 8);
  CHECK(call.output({0, 0, 3, 0}) != 0);
}

TEST_CASE("4: an all-false mask gives all 0 and -inf") {
  kernel_call<reported::masked_4> call(shape(1, 3, 3));
  call.tensor("boolean_mask").fill([](auto) { return 0.0; });
  call.must_run();
  require_empty_rows(call, 0, 2, 4);
}

TEST_CASE("5: one query and 16 keys, causal: top_left sees the first key, bottom_right all of them") {
  kernel_call<reported::top_left_64> first(shape(1, 1, 16));
  first.must_run();
  for (int h = 0; h < 4; ++h)
    for (int d = 0; d < 64; ++d) CHECK(first.output({0, h, 0, d}) == first.tensor("value").get({0, h, 0, d}));

  kernel_call<reported::bottom_right_64> all(shape(1, 1, 16));
  all.tensor("query").fill([](auto) { return 0.0; }); // equal scores: the mean of all 16 values
  all.must_run();
  for (int h = 0; h < 4; ++h) {
    CHECK_THAT(all.lse({0, h, 0}), WithinAbs(std::log(16.0), 1e-5));
    for (int d = 0; d < 64; ++d) {
      double mean = 0;
      for (int k = 0; k < 16; ++k) mean += all.tensor("value").get({0, h, k, d}) / 16;
      CHECK_THAT(all.output({0, h, 0, d}), WithinAbs(mean, 4e-6));
    }
  }
}

TEST_CASE("6: causal bottom_right with five queries and two keys: three empty rows lead") {
  kernel_call<reported::bottom_right_64> call(shape(1, 5, 2));
  call.must_agree();
  require_empty_rows(call, 0, 2, 64);
  for (int d = 0; d < 64; ++d) CHECK(call.output({0, 0, 3, d}) == call.tensor("value").get({0, 0, 0, d}));
}

TEST_CASE("7: softcap without a mask, one key more than a tile") {
  for (int tile : {8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024}) {
    const int keys = tile + 1;
    INFO(keys << " keys");
    kernel_call<reported::capped> call(shape(1, 3, keys));
    call.must_agree();
    call.tensor("query").fill([](auto) { return 0.0; }); // padded slots would weigh as much as keys
    call.tensor("value").fill([](auto) { return 1.0; });
    call.must_run();
    CHECK_THAT(call.output({0, 0, 0, 0}), WithinAbs(1, 2e-6));
    CHECK_THAT(call.lse({0, 1, 2}), WithinAbs(std::log(keys), 1e-5));
  }
}

TEST_CASE("8: hugely negative scores of which one stands out") {
  for (double level : {0.0, -1e2, -1e3, -1e4, -1e5, -5e5}) {
    INFO("level " << level);
    kernel_call<reported::spiked> call(shape(1, 1, 64));
    call.tensor("query").fill([](auto) { return 1.0; });
    call.tensor("key").for_each([&](const auto &at) { call.tensor("key").set(at, (level + (at[2] == 0 ? 5000 : 0)) / 128); });
    call.must_run();
    for (int h = 0; h < 16; ++h)
      for (int d = 0; d < 128; ++d) CHECK_THAT(call.output({0, h, 0, d}), WithinAbs(call.tensor("value").get({0, 0, 0, d}), 1e-6));
    const double score = (level + 5000) / std::sqrt(128.0);
    CHECK_THAT(call.lse({0, 0, 0}), WithinAbs(score, 2e-6 * std::abs(score) + 1e-5));
  }
}

TEST_CASE("9: 257 keys split over threads give what one thread gives") {
  kernel_call<reported::single_query> call(shape(1, 1, 257));
  call.must_run(1);
  const auto alone = call.tensor("output").all_bits();
  CHECK(call.differences(call.reference()) == "");
  for (int threads : {2, 3, 8}) {
    call.must_run(threads);
    CHECK(call.tensor("output").all_bits() == alone);
  }
}

TEST_CASE("10: no queries and no keys") {
  for (const check_case &how : {shape(7, 0, 0), shape(7, 0, 5), shape(0, 3, 3)}) kernel_call<reported::seven_heads>(how).must_agree();
  kernel_call<reported::seven_heads> no_keys(shape(7, 3, 0));
  no_keys.must_run();
  require_empty_rows(no_keys, 0, 2, 7);
}

TEST_CASE("11: 84 batches of three positions, in BSHD memory order as in BHSD") {
  kernel_call<reported::many_batches> usual(shape(84, 3, 3)), other(shape(84, 3, 3, memory_order::bshd));
  usual.must_agree();
  other.must_agree();
  CHECK(usual.tensor("output").all_bits() == other.tensor("output").all_bits());
}

TEST_CASE("12: nine query heads on three kv heads") {
  kernel_call<reported::ratio_three> call(shape(1, 5, 5));
  call.must_agree();
  kernel_call<reported::ratio_three> one_key(shape(1, 5, 1)); // one key: the output is its value
  one_key.must_run();
  for (int h = 0; h < 9; ++h) CHECK(one_key.output({0, h, 4, 63}) == one_key.tensor("value").get({0, h / 3, 0, 63}));
}

TEST_CASE("13: causal with a past: one query row more leaves row 0 as it was") {
  constexpr int past = 20;
  kernel_call<reported::bottom_right_64> eight(shape(1, 8, past + 8)), nine(shape(1, 9, past + 9));
  for (const char *name : {"query", "key", "value"})
    eight.tensor(name).for_each([&](const auto &at) { eight.tensor(name).set(at, nine.tensor(name).get(at)); });
  eight.must_agree();
  nine.must_agree();
  for (int h = 0; h < 4; ++h)
    for (int d = 0; d < 64; ++d) CHECK_THAT(eight.output({0, h, 0, d}), WithinAbs(nine.output({0, h, 0, d}), 4e-6));
}

TEST_CASE("14: queries that are NaN give NaN") {
  kernel_call<reported::four_heads_8> call(shape(2, 16, 16));
  call.tensor("query").fill([](auto) { return not_a_number; });
  call.must_run();
  call.tensor("output").for_each([&](const auto &at) { CHECK((call.tensor("output").bits(at) & 0x7fffffffu) > 0x7f800000u); });
  call.tensor("lse").for_each([&](const auto &at) { CHECK((call.tensor("lse").bits(at) & 0x7fffffffu) > 0x7f800000u); });
}

// Partial results put together by their log-sum-exp: the formula, elements, results written over a part, wrong arguments, the C ABI.
#include "runtime/c_abi.h"
#include "runtime/merge.hpp"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace attune;
using namespace attune::axes;
using Catch::Matchers::Contains;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr int batches = 2, heads = 3, queries = 5, features = 300; // more features than are summed at a time

template <class T> using outputs_of = tensor<T, batch<>, head<heads>, query<>, value_dim<features>>;
using lse_tensor = tensor<float, batch<>, head<heads>, query<>>;

/// A part with values that depend on its number; its row (1, 2, 3) is empty where the number is even.
template <class T> struct part {
  outputs_of<T> output{batches, queries};
  lse_tensor lse{batches, queries};
  explicit part(int number) {
    for (int b = 0; b < batches; ++b)
      for (int h = 0; h < heads; ++h)
        for (int q = 0; q < queries; ++q) {
          lse(b, h, q) = static_cast<float>(std::sin(1.0 + number * 7 + b * 3 + h * 5 + q) * 4);
          for (int d = 0; d < features; ++d) output(b, h, q, d) = T(static_cast<float>(std::cos(number + b + h * 2 + q * 3 + d)));
        }
    if (number % 2 == 0) make_empty(1, 2, 3);
  }
  void make_empty(int b, int h, int q) {
    lse(b, h, q) = -infinity;
    for (int d = 0; d < features; ++d) output(b, h, q, d) = T(not_a_number); // must not be read
  }
};

/// The formula in double precision, for one feature of one row.
template <class T> std::pair<double, double> expected(const std::vector<part<T>> &parts, int b, int h, int q, int d) {
  double total = 0, sum = 0;
  for (const part<T> &p : parts) {
    const double weight = std::exp(static_cast<double>(p.lse(b, h, q)));
    if (weight == 0) continue;
    total += weight;
    sum += weight * static_cast<double>(static_cast<float>(p.output(b, h, q, d)));
  }
  return {total == 0 ? 0 : sum / total, std::log(total)};
}

template <class T, class Result> void check(const std::vector<part<T>> &parts, const Result &output, const lse_tensor &lse, double bound) {
  for (int b = 0; b < batches; ++b)
    for (int h = 0; h < heads; ++h)
      for (int q = 0; q < queries; ++q)
        for (int d = 0; d < features; ++d) {
          const auto [value, log_total] = expected(parts, b, h, q, d);
          if (std::abs(static_cast<double>(static_cast<float>(output(b, h, q, d))) - value) > bound) FAIL_CHECK("output " << b << h << q << " " << d << ": expected " << value);
          if (!(std::abs(lse(b, h, q) - log_total) <= 1e-6 * std::max(1.0, std::abs(log_total))) && lse(b, h, q) != log_total) FAIL_CHECK("lse " << b << h << q << ": expected " << log_total);
        }
}

template <class T> std::vector<part<T>> parts_of(int count) {
  std::vector<part<T>> parts;
  for (int i = 0; i < count; ++i) parts.emplace_back(i);
  return parts;
}
template <class T> std::vector<partial_result> listed(std::vector<part<T>> &parts) {
  std::vector<partial_result> list;
  for (part<T> &p : parts) list.emplace_back(p.output, p.lse);
  return list;
}

} // namespace

TEMPLATE_TEST_CASE("merged parts are the formula, in every element type", "", float, f16_t, bf16_t) {
  const double bound = std::is_same_v<TestType, float> ? 1e-6 : std::is_same_v<TestType, f16_t> ? 0x1p-11 : 0x1p-8;
  for (int count : {1, 2, 5}) {
    auto parts = parts_of<TestType>(count);
    const auto list = listed(parts);
    outputs_of<TestType> output(batches, queries);
    outputs_of<float> precise(batches, queries);
    lse_tensor lse(batches, queries);
    merge(list.data(), list.size(), output, lse);
    check(parts, output, lse, bound);
    merge(list.data(), list.size(), precise, lse);
    check(parts, precise, lse, 1e-6);
  }
}

TEST_CASE("a result may be written over a part, whole or in one of its tensors") {
  const auto untouched = parts_of<float>(3);
  for (int over : {0, 2}) {
    auto parts = parts_of<float>(3);
    auto list = listed(parts);
    merge(list.data(), list.size(), parts[over].output, parts[over].lse);
    check(untouched, parts[over].output, parts[over].lse, 1e-6);
  }
  auto parts = parts_of<float>(3);
  lse_tensor lse(batches, queries);
  merge({{parts[0].output, parts[0].lse}, {parts[1].output, parts[1].lse}, {parts[2].output, parts[2].lse}}, parts[1].output, lse);
  check(untouched, parts[1].output, lse, 1e-6);
}

TEST_CASE("axes go by their names, strides are free, and a batch of one may be left out") {
  std::vector<float> memory(4 * 2 * 8, -1.0f);
  const view<float, query<>, head<2>, value_dim<3>> token_major(memory.data(), {4, 2, 3}, {16, 8, 1});
  tensor<float, head<2>, query<>, value_dim<3>> part(4);
  tensor<float, query<>, head<2>> lse(4), whole_lse(4);
  for (int q = 0; q < 4; ++q)
    for (int h = 0; h < 2; ++h) {
      lse(q, h) = static_cast<float>(q - h);
      for (int d = 0; d < 3; ++d) part(h, q, d) = static_cast<float>(100 * q + 10 * h + d);
    }
  merge({{part, lse}}, token_major, whole_lse);
  for (int q = 0; q < 4; ++q)
    for (int h = 0; h < 2; ++h) {
      CHECK(whole_lse(q, h) == lse(q, h));
      for (int d = 0; d < 3; ++d) CHECK(token_major(q, h, d) == part(h, q, d));
      CHECK(memory[static_cast<std::size_t>(q * 16 + h * 8 + 3)] == -1);
    }
}

TEST_CASE("rows that are empty in every part, no parts, and NaN") {
  auto parts = parts_of<float>(2);
  for (part<float> &p : parts) p.make_empty(0, 0, 0);
  parts[1].lse(0, 1, 0) = not_a_number;
  parts[0].output(0, 2, 0, 7) = not_a_number;
  outputs_of<float> output(batches, queries);
  lse_tensor lse(batches, queries);
  const auto list = listed(parts);
  merge(list.data(), list.size(), output, lse);
  CHECK(lse(0, 0, 0) == -infinity);
  CHECK(output(0, 0, 0, 5) == 0);
  CHECK(std::isnan(lse(0, 1, 0)));
  CHECK(std::isnan(output(0, 1, 0, 5)));
  CHECK(std::isnan(output(0, 2, 0, 7)));
  CHECK_FALSE(std::isnan(output(0, 2, 0, 8)));
  merge(nullptr, 0, output, lse);
  CHECK(lse(1, 2, 4) == -infinity);
  CHECK(output(1, 2, 4, 299) == 0);
}

TEST_CASE("wrong merges are refused, and nothing is written") {
  auto parts = parts_of<float>(2);
  outputs_of<float> output(batches, queries);
  lse_tensor lse(batches, queries);
  const auto fails = [&](const std::vector<partial_result> &list, const partial_result &whole, error_code code, const std::string &text) {
    const status ended = try_merge(list.data(), list.size(), whole);
    CHECK(name_of(ended.code) == std::string(name_of(code)));
    CHECK_THAT(ended.message(), Contains(text));
    CHECK(output(0, 0, 0, 0) == 0);
  };
  auto list = listed(parts);
  tensor<float, batch<>, head<heads>, query<>, value_dim<features - 1>> narrow(batches, queries);
  tensor<float, batch<>, head<heads>, query<>> short_lse(batches, queries - 1);
  tensor<std::int32_t, batch<>, head<heads>, query<>, value_dim<features>> integers(batches, queries);
  fails({list[0], {narrow, parts[1].lse}}, {output, lse}, error_code::wrong_extent, "merge, part 2: tensor partial output: axis value_dim: expected 300");
  fails({{parts[0].output, short_lse}}, {output, lse}, error_code::wrong_extent, "merge, part 1: tensor partial lse: axis query: expected 5");
  fails({{integers, parts[0].lse}}, {output, lse}, error_code::wrong_element, "partial output: expected f32 elements, got i32");
  fails({{parts[0].lse, parts[0].lse}}, {output, lse}, error_code::wrong_axis, "partial output was passed without axis value_dim");
  const view<const float, batch<>, head<heads>, query<>, value_dim<features>> read_only(output.read_write().data, batches, queries);
  fails(list, {read_only, lse}, error_code::not_writable, "output is written");
  const view<float, batch<>, head<heads>, query<>, value_dim<features>> shifted(parts[0].output.read_write().data + features, 1, queries), half(output.read_write().data, 1, queries);
  const view<float, batch<>, head<heads>, query<>> half_lse(lse.read_write().data, 1, queries);
  const view<float, batch<>, head<heads>, query<>> part_lse(parts[0].lse.read_write().data, 1, queries);
  fails({{view<float, batch<>, head<heads>, query<>, value_dim<features>>(parts[0].output.read_write().data, 1, queries), part_lse}}, {shifted, half_lse}, error_code::overlap,
        "shares memory with tensor partial output");
  fails({{half, lse}}, {output, lse}, error_code::wrong_extent, "axis batch");
}

TEST_CASE("merge through the C ABI") {
  float out[2][6] = {{1, 2, 3, 4, 5, 6}, {3, 4, 5, 6, 7, 8}}, lse[2][2] = {{0, 1}, {0, -infinity}}, whole[6] = {}, whole_lse[2] = {};
  std::int64_t extents[] = {1, 2, 3}, lse_extents[] = {1, 2};
  const auto dl = [](float *data, std::int64_t *shape, int rank) {
    attune_dl_tensor t = {};
    t.data = data, t.shape = shape, t.ndim = rank;
    t.device.device_type = 1;
    t.dtype.code = 2, t.dtype.bits = 32, t.dtype.lanes = 1;
    return t;
  };
  const attune_dl_tensor outputs[] = {dl(out[0], extents, 3), dl(out[1], extents, 3)}, lses[] = {dl(lse[0], lse_extents, 2), dl(lse[1], lse_extents, 2)};
  const attune_dl_tensor result = dl(whole, extents, 3), result_lse = dl(whole_lse, lse_extents, 2);
  const attune_merge_part parts[] = {{&outputs[0], &lses[0]}, {&outputs[1], &lses[1]}, {nullptr, &lses[1]}};
  char message[300];
  REQUIRE(attune_merge(parts, 2, &result, &result_lse, message, sizeof message) == 0);
  CHECK(whole[0] == 2);
  CHECK(whole[3] == 4);
  CHECK(whole_lse[0] == Approx(std::log(2.0)));
  CHECK(whole_lse[1] == 1);
  CHECK(std::string(attune_error_name(attune_merge(parts, 3, &result, &result_lse, message, sizeof message))) == "missing_tensor");
  CHECK_THAT(message, Contains("part 3"));
}

// What a right call hands to generated code: argv, axes, strides, batch, numbers; and the calls that have nothing to do.
#include "fake_library.hpp"
#include <catch2/catch.hpp>
#include <cmath>

using namespace attune;
using namespace attune::axes;

namespace {
void check_axes(const fake::recorded_buffer &b, std::vector<halide_dimension_t> expected) {
  REQUIRE(b.axes.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("axis " << i << ": extent " << b.axes[i].extent << ", stride " << b.axes[i].stride);
    CHECK(b.axes[i] == expected[i]);
  }
}
} // namespace

TEST_CASE("axes come innermost first in the signature's order, whatever the caller's order") {
  fake::forget();
  tensor<float, batch<>, query<>, head<4>, head_dim<3>> q(2, 5); // BSHD in memory
  tensor<float, batch<>, kv_head<2>, key<>, head_dim<3>> k(2, 7);
  tensor<float, kv_head<2>, batch<>, key<>, value_dim<2>> v(2, 7);
  tensor<float, batch<>, head<4>, query<>, value_dim<2>> out(2, 5);
  tensor<float, query<>, head<4>, batch<>> lse(5, 2);
  tensor<float, batch<>, head<4>, query<>, key<>> weights(2, 5, 7);
  const status s = kernel<fake::plain>{}.try_call(q, k, v, out, view<float, batch<>, head<4>, query<>>(lse.data(), {2, 4, 5}, {20, 5, 1}), weights);
  INFO(s.message());
  REQUIRE(s);
  const fake::recording r = fake::last();
  REQUIRE(r.read.size() == 3);
  REQUIRE(r.written.size() == 3);
  CHECK(r.read[0].host == q.data());
  CHECK(r.read[0].type == halide_type_t(halide_type_float, 32));
  check_axes(r.read[0], {{0, 3, 1}, {0, 5, 12}, {0, 4, 3}, {0, 2, 60}});
  check_axes(r.read[1], {{0, 3, 1}, {0, 7, 3}, {0, 2, 21}, {0, 2, 42}});
  check_axes(r.read[2], {{0, 2, 1}, {0, 7, 2}, {0, 2, 28}, {0, 2, 14}});
  check_axes(r.written[0], {{0, 2, 1}, {0, 5, 2}, {0, 4, 10}, {0, 2, 40}});
  check_axes(r.written[1], {{0, 5, 1}, {0, 4, 5}, {0, 2, 20}});
  check_axes(r.written[2], {{0, 7, 1}, {0, 5, 7}, {0, 4, 35}, {0, 2, 140}});
}

TEST_CASE("batch left out is 1, or the same for all of the batch") {
  fake::forget();
  tensor<float, batch<>, head<4>, query<>, head_dim<3>> q(3, 5);
  tensor<float, kv_head<2>, key<>, head_dim<3>> k(7);
  tensor<float, batch<>, kv_head<2>, key<>, value_dim<2>> v(3, 7);
  tensor<float, batch<>, head<4>, query<>, value_dim<2>> out(3, 5);
  tensor<bool, key<>> allowed(7);
  tensor<float, query<>, key<>> bias(5, 7);
  std::int32_t length = 7;
  REQUIRE(kernel<fake::masked>{}.try_call(q, k, v, out, allowed, bias, view<const std::int32_t>(&length), 0.5, 20, 3));
  fake::recording r = fake::last();
  check_axes(r.read[1], {{0, 3, 1}, {0, 7, 3}, {0, 2, 21}, {0, 3, 0}});
  check_axes(r.read[3], {{0, 7, 1}, {0, 3, 0}});
  CHECK(r.read[3].type == halide_type_t(halide_type_uint, 8));
  check_axes(r.read[4], {{0, 7, 1}, {0, 5, 7}});
  check_axes(r.read[5], {{0, 3, 0}});
  CHECK(r.read[5].type == halide_type_t(halide_type_int, 32));
  CHECK(r.reals == std::vector<float>{0.5f, 20});
  CHECK(r.integers == std::vector<std::int32_t>{3});

  tensor<float, head<4>, query<>, head_dim<3>> q1(5);
  tensor<float, kv_head<2>, key<>, value_dim<2>> v1(7);
  tensor<float, head<4>, query<>, value_dim<2>> out1(5);
  REQUIRE(kernel<fake::masked>{}.try_call(q1, k, v1, out1, allowed, bias, view<const std::int32_t>(&length), 0.5f, 20, 3));
  r = fake::last();
  check_axes(r.read[0], {{0, 3, 1}, {0, 5, 3}, {0, 4, 15}, {0, 1, 0}});
  check_axes(r.written[0], {{0, 2, 1}, {0, 5, 2}, {0, 4, 10}, {0, 1, 0}});
}

TEST_CASE("masks may have any strides, 0 too, and axes of one element any stride at all") {
  fake::forget();
  tensor<float, head<4>, query<>, head_dim<3>> q(1);
  tensor<float, kv_head<2>, key<>, head_dim<3>> k(7);
  tensor<float, kv_head<2>, key<>, value_dim<2>> v(7);
  tensor<float, head<4>, query<>, value_dim<2>> out(1);
  bool allowed = true;
  tensor<float, key<>, query<>> bias(7, 4);
  std::int32_t length = 7;
  const view<const float, query<>, key<>> transposed(bias.data(), {1, 7}, {-77, 4});
  REQUIRE(kernel<fake::masked>{}.try_call(q, k, v, out, view<const bool, key<>>(&allowed, {7}, {0}), transposed, view<const std::int32_t>(&length), 0.5, 20, 3));
  const fake::recording r = fake::last();
  check_axes(r.read[3], {{0, 7, 0}, {0, 1, 0}});
  check_axes(r.read[4], {{0, 7, 4}, {0, 1, 0}});
}

TEST_CASE("no batch and no query: nothing to do; no key: output 0 and LSE -inf") {
  fake::forget();
  const auto run = [](std::int64_t batches, std::int64_t queries, std::int64_t keys, float *written, float *lse_written) {
    tensor<float, batch<>, kv_head<2>, key<>, head_dim<3>> k(batches, keys);
    tensor<float, batch<>, kv_head<2>, key<>, value_dim<2>> v(batches, keys);
    const view<const float, batch<>, head<4>, query<>, head_dim<3>> q(written + 1000, batches, queries);
    return kernel<fake::plain>{}.try_call(q, k, v, view<float, batch<>, head<4>, query<>, value_dim<2>>(written, batches, queries),
                                          view<float, batch<>, head<4>, query<>>(lse_written, batches, queries),
                                          view<float, batch<>, head<4>, query<>, key<>>(nullptr, batches, queries, std::int64_t{0}));
  };
  std::vector<float> out(2000, 5.0f), lse(100, 5.0f);
  CHECK(run(0, 3, 0, out.data(), lse.data()));
  CHECK(run(2, 0, 0, out.data(), lse.data()));
  CHECK(out[0] == 5);
  CHECK(run(2, 3, 0, out.data(), lse.data()));
  for (int i = 0; i < 48; ++i) REQUIRE(out[static_cast<std::size_t>(i)] == 0);
  for (int i = 0; i < 24; ++i) REQUIRE(lse[static_cast<std::size_t>(i)] == -INFINITY);
  CHECK(out[48] == 5);
  CHECK(lse[24] == 5);
  CHECK(fake::last().calls == 0);
}

TEST_CASE("empty tensors may have no data") {
  const view<const float, batch<>, head<4>, query<>, head_dim<3>> q(nullptr, 1, 0);
  const view<const float, batch<>, kv_head<2>, key<>, head_dim<3>> k(nullptr, 1, 0);
  const view<const float, batch<>, kv_head<2>, key<>, value_dim<2>> v(nullptr, 1, 0);
  const view<float, batch<>, head<4>, query<>, value_dim<2>> out(nullptr, 1, 0);
  CHECK(kernel<fake::plain>{}.try_call(q, k, v, out, view<float, batch<>, head<4>, query<>>(nullptr, 1, 0), view<float, batch<>, head<4>, query<>, key<>>(nullptr, 1, 0, 0)));
}

TEST_CASE("options reach the call") {
  fake::forget();
  tensor<float, head<4>, query<>, head_dim<3>> q(3);
  tensor<float, kv_head<2>, key<>, head_dim<3>> k(5);
  tensor<float, kv_head<2>, key<>, value_dim<2>> v(5);
  tensor<float, head<4>, query<>, value_dim<2>> out(3);
  tensor<float, head<4>, query<>> lse(3);
  tensor<float, head<4>, query<>, key<>> weights(3, 5);
  call_options options;
  options.threads = 3;
  options.target = fake::least_target();
  REQUIRE(kernel<fake::plain>{}.try_call(q, k, v, out, lse, weights, options));
  CHECK(fake::last().threads == 3);
  CHECK(fake::last().target == fake::least_target());
}

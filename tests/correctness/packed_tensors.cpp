// Several tensors in one memory: packed queries, keys and values, and values that are the first features of the keys. Each call against
// the same call on tensors of their own, bit by bit.
#include "runtime/c_abi.h"
#include "runtime/kernel.hpp"
#include "shape_kernels_under_test.hpp"
#include "tests/support/target_under_test.hpp"

using namespace attune;

namespace {

check_case shape(int batch, int queries, int keys) {
  check_case c;
  c.batch = batch, c.queries = queries, c.keys = keys;
  return c;
}

/// The elements of a contiguous tensor of a check.
template <class T> const T *data_of(const check_call &call, const char *name) { return static_cast<const T *>(call.tensor(name).data()); }

constexpr int heads = 4, kv_heads = 2, head_features = 64, batches = 3, length = 37;
constexpr std::int64_t row = (heads + 2 * kv_heads) * head_features; ///< of one token: its query heads, its key heads, its value heads

/// A call of shapes::grouped on tensors of their own, and the same numbers packed: [batch, token, heads + 2 kv_heads, head_dim].
struct packed_call {
  kernel_call<shapes::grouped> apart{shape(batches, length, length)};
  std::vector<float> packed = std::vector<float>(batches * length * row), output = std::vector<float>(batches * length * heads * head_features),
                     lse = std::vector<float>(batches * length * heads);

  packed_call() {
    apart.must_agree();
    copy("query", 0), copy("key", heads), copy("value", heads + kv_heads);
  }
  void copy(const char *name, int first_head) {
    const check_tensor &t = apart.tensor(name);
    t.for_each([&](const auto &at) { packed[static_cast<std::size_t>((at[0] * length + at[2]) * row + (first_head + at[1]) * head_features + at[3])] = static_cast<float>(t.get(at)); });
  }
  const float *keys() const { return packed.data() + heads * head_features; }
  const float *values() const { return keys() + kv_heads * head_features; }
  /// The results are [batch, query, head, value_dim] and [batch, head, query].
  void must_be_the_same() const {
    std::int64_t wrong = 0;
    const check_tensor &expected = apart.tensor("output"), &expected_lse = apart.tensor("lse");
    expected.for_each([&](const auto &at) { wrong += output[static_cast<std::size_t>(((at[0] * length + at[2]) * heads + at[1]) * head_features + at[3])] != static_cast<float>(expected.get(at)); });
    expected_lse.for_each([&](const auto &at) { wrong += lse[static_cast<std::size_t>((at[0] * heads + at[1]) * length + at[2])] != static_cast<float>(expected_lse.get(at)); });
    CHECK(wrong == 0);
  }
};

/// A float tensor for the C ABI.
struct dl_tensor {
  std::vector<std::int64_t> shape, strides;
  attune_dl_tensor t = {};

  dl_tensor(const float *data, std::vector<std::int64_t> extents, std::vector<std::int64_t> steps) : shape(std::move(extents)), strides(std::move(steps)) {
    t.data = const_cast<float *>(data);
    t.device.device_type = 1;
    t.ndim = static_cast<std::int32_t>(shape.size());
    t.dtype.code = 2, t.dtype.bits = 32, t.dtype.lanes = 1;
    t.shape = shape.data(), t.strides = strides.data();
  }
};

} // namespace

TEST_CASE_METHOD(packed_call, "packed queries, keys and values: views of one tensor") {
  const view<const float, axes::batch<>, axes::query<>, axes::head<heads>, axes::head_dim<head_features>> q(packed.data(), {batches, length, heads, head_features}, {length * row, row, head_features, 1});
  const view<const float, axes::batch<>, axes::key<>, axes::kv_head<kv_heads>, axes::head_dim<head_features>> k(keys(), {batches, length, kv_heads, head_features}, {length * row, row, head_features, 1});
  const view<const float, axes::batch<>, axes::key<>, axes::kv_head<kv_heads>, axes::value_dim<head_features>> v(values(), {batches, length, kv_heads, head_features}, {length * row, row, head_features, 1});
  const view<float, axes::batch<>, axes::query<>, axes::head<heads>, axes::value_dim<head_features>> out(output.data(), batches, length);
  const view<float, axes::batch<>, axes::head<heads>, axes::query<>> log_sums(lse.data(), batches, length);
  kernel<shapes::grouped>{}(q, k, v, out, log_sums, options_under_test());
  must_be_the_same();

  SECTION("features that are not contiguous are refused") {
    const view<const float, axes::batch<>, axes::key<>, axes::kv_head<kv_heads>, axes::head_dim<head_features>> spread(keys(), {batches, length, kv_heads, head_features}, {length * row, row, 1, kv_heads});
    const status ended = kernel<shapes::grouped>{}.try_call(q, spread, v, out, log_sums, options_under_test());
    CHECK(ended.code == error_code::wrong_stride);
    CHECK_THAT(ended.message(), Catch::Contains("tensor key: axis head_dim must be contiguous: expected stride 1, got 2"));
  }
}

TEST_CASE_METHOD(packed_call, "packed queries, keys and values through the C ABI") {
  const std::vector<std::int64_t> steps{length * row, row, head_features, 1};
  dl_tensor q(packed.data(), {batches, length, heads, head_features}, steps), k(keys(), {batches, length, kv_heads, head_features}, steps), v(values(), {batches, length, kv_heads, head_features}, steps);
  dl_tensor out(output.data(), {batches, length, heads, head_features}, {length * heads * head_features, heads * head_features, head_features, 1}), log_sums(lse.data(), {batches, heads, length}, {heads * length, length, 1});
  const attune_named_tensor tensors[] = {{"query", &q.t, nullptr}, {"key", &k.t, nullptr}, {"value", &v.t, nullptr}, {"output", &out.t, nullptr}, {"lse", &log_sums.t, nullptr}};
  attune_options options = {};
  options.size = sizeof options;
  options.target = info_of(target_under_test()).name;
  char message[1000] = "";
  const int code = attune_call("shapes::grouped", tensors, std::size(tensors), nullptr, 0, &options, message, sizeof message);
  INFO(message);
  REQUIRE(code == 0);
  must_be_the_same();
}

TEST_CASE("packed with an axis for the three: [batch, token, 3, head, head_dim]") {
  constexpr int all = 2;
  constexpr std::int64_t step = 3 * all * head_features;
  kernel_call<shapes::even> apart(shape(batches, length, length));
  std::vector<bf16_t> packed(batches * length * step), output(batches * length * all * head_features);
  const char *const names[] = {"query", "key", "value"};
  for (int part = 0; part < 3; ++part) {
    const check_tensor &t = apart.tensor(names[part]);
    t.for_each([&](const auto &at) { packed[static_cast<std::size_t>((at[0] * length + at[2]) * step + (part * all + at[1]) * head_features + at[3])].bits = static_cast<std::uint16_t>(t.bits(at)); });
  }
  apart.must_agree();
  const bf16_t *const first = packed.data();
  const view<const bf16_t, axes::batch<>, axes::query<>, axes::head<all>, axes::head_dim<head_features>> q(first, {batches, length, all, head_features}, {length * step, step, head_features, 1});
  const view<const bf16_t, axes::batch<>, axes::key<>, axes::kv_head<all>, axes::head_dim<head_features>> k(first + all * head_features, {batches, length, all, head_features}, {length * step, step, head_features, 1});
  const view<const bf16_t, axes::batch<>, axes::key<>, axes::kv_head<all>, axes::value_dim<head_features>> v(first + 2 * all * head_features, {batches, length, all, head_features}, {length * step, step, head_features, 1});
  kernel<shapes::even>{}(q, k, v, view<bf16_t, axes::batch<>, axes::head<all>, axes::query<>, axes::value_dim<head_features>>(output.data(), batches, length), options_under_test());
  const bf16_t *const expected = data_of<bf16_t>(apart, "output");
  CHECK(std::equal(output.begin(), output.end(), expected, [](bf16_t a, bf16_t b) { return a.bits == b.bits; }));
}

TEST_CASE("values that are the first features of the keys, in the same memory") {
  for (const auto &[queries, keys] : {std::pair{1, 300}, {1, 600}, {5, 40}, {40, 40}}) {
    INFO(queries << " queries, " << keys << " keys");
    kernel_call<shapes::latent> apart(shape(2, queries, keys));
    check_tensor &value = apart.tensor("value");
    value.for_each([&](const auto &at) { value.set(at, apart.tensor("key").get(at)); });
    apart.must_agree();
    const check_tensor &expected = apart.tensor("output"), &expected_lse = apart.tensor("lse");
    std::vector<float> output(static_cast<std::size_t>(expected.count())), lse(static_cast<std::size_t>(expected_lse.count()));
    const float *const memory = data_of<float>(apart, "key");
    const view<const float, axes::batch<>, axes::head<16>, axes::query<>, axes::head_dim<576>> query_view(data_of<float>(apart, "query"), 2, queries);
    const view<const float, axes::batch<>, axes::kv_head<1>, axes::key<>, axes::head_dim<576>> key_view(memory, 2, keys);
    const view<const float, axes::batch<>, axes::kv_head<1>, axes::key<>, axes::value_dim<512>> value_view(memory, {2, 1, keys, 512}, {keys * 576, 576, 576, 1});
    kernel<shapes::latent>{}(query_view, key_view, value_view, view<float, axes::batch<>, axes::head<16>, axes::query<>, axes::value_dim<512>>(output.data(), 2, queries),
                             view<float, axes::batch<>, axes::head<16>, axes::query<>>(lse.data(), 2, queries), options_under_test());
    CHECK(std::equal(output.begin(), output.end(), data_of<float>(apart, "output")));
    CHECK(std::equal(lse.begin(), lse.end(), data_of<float>(apart, "lse")));
  }
}

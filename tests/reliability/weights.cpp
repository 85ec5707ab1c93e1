// Packing weights: any axis order and strides, biases, the padding, and what is refused.
#include "fake_library.hpp"
#include <catch2/catch.hpp>

using namespace attune;
using namespace attune::axes;
using Catch::Matchers::Contains;

namespace {

/// Weights of fake::layer: 4 heads and 2 kv heads of head_dim 3 and value_dim 2, model_dim 5, 7 features out.
struct layer_weights {
  tensor<float, head<4>, head_dim<3>, model_dim<5>> query;
  tensor<float, model_dim<5>, kv_head<2>, head_dim<3>> key; // transposed in memory
  tensor<bf16_t, kv_head<2>, value_dim<2>, model_dim<5>> value;
  tensor<float, model_dim<7>, head<4>, value_dim<2>> output;
  tensor<float, head<4>, head_dim<3>> query_bias;
  tensor<float, kv_head<2>, head_dim<3>> key_bias;
  tensor<float, kv_head<2>, value_dim<2>> value_bias;
  tensor<float, model_dim<7>> output_bias;
  projection_weights<fake::layer> all;

  layer_weights() {
    fake::forget();
    int n = 0;
    for (float &x : query) x = static_cast<float>(++n % 100);
    for (float &x : key) x = static_cast<float>(++n % 100);
    for (bf16_t &x : value) x = bf16_t(static_cast<float>(++n % 100));
    for (float &x : output) x = static_cast<float>(++n % 100);
    for (float &x : query_bias) x = static_cast<float>(++n);
    for (float &x : output_bias) x = static_cast<float>(++n);
    all.query = query, all.key = key, all.value = value, all.output = output;
    all.query_bias = query_bias, all.key_bias = key_bias, all.value_bias = value_bias, all.output_bias = output_bias;
  }
  status pack(detail::packed_memory &m, const call_options &o = {}) { return pack_weights(artefact<fake::layer>::info(), all.refs(), o, m); }
  void fails(error_code code, const char *part) {
    detail::packed_memory m;
    const status s = pack(m);
    CHECK(name_of(s.code) == std::string(name_of(code)));
    CHECK_THAT(s.message(), Contains(part) && Contains("fake::layer"));
    CHECK(m.block == nullptr);
  }
};

float packed_value(const packed_matrix &m, std::int64_t in, std::int64_t out) {
  bf16_t x;
  x.bits = static_cast<const std::uint16_t *>(m.data)[(out / 8 * m.features_in + in) * 8 + out % 8];
  return static_cast<float>(x);
}

} // namespace

TEST_CASE_METHOD(layer_weights, "every weight lands in its lane, feature in and panel") {
  const packed_weights<fake::layer> packed = pack_weights(all);
  REQUIRE(packed.ref());
  const packed_weights_ref &r = *packed.ref();
  CHECK(r.count == 4);
  CHECK(packed.target() == fake::best_target());
  CHECK(packed.bytes() >= (2 * 5 + 5 + 5 + 8) * 8 * 2u);
  for (int h = 0; h < 4; ++h)
    for (int d = 0; d < 3; ++d)
      for (int m = 0; m < 5; ++m) REQUIRE(packed_value(r.matrices[0], m, h * 3 + d) == query(h, d, m));
  for (int h = 0; h < 2; ++h)
    for (int d = 0; d < 3; ++d)
      for (int m = 0; m < 5; ++m) REQUIRE(packed_value(r.matrices[1], m, h * 3 + d) == key(m, h, d));
  for (int h = 0; h < 2; ++h)
    for (int d = 0; d < 2; ++d)
      for (int m = 0; m < 5; ++m) REQUIRE(packed_value(r.matrices[2], m, h * 2 + d) == static_cast<float>(value(h, d, m)));
  for (int h = 0; h < 4; ++h)
    for (int d = 0; d < 2; ++d)
      for (int m = 0; m < 7; ++m) REQUIRE(packed_value(r.matrices[3], h * 2 + d, m) == output(m, h, d));
  for (int m = 0; m < 5; ++m) CHECK(packed_value(r.matrices[0], m, 12) == 0); // padding of the last panel
  for (int i = 0; i < 16; ++i) CHECK(r.matrices[0].bias[i] == (i < 12 ? query_bias(i / 3, i % 3) : 0));
  for (int i = 0; i < 8; ++i) CHECK(r.matrices[3].bias[i] == (i < 7 ? output_bias(i) : 0));
}

TEST_CASE_METHOD(layer_weights, "a call passes matrices and biases in order, on the target of the weights") {
  call_options least;
  least.target = fake::least_target();
  const packed_weights<fake::layer> packed = pack_weights(all, least);
  tensor<bf16_t, batch<>, axes::query<>, model_dim<5>> hidden(2, 3);
  tensor<bf16_t, batch<>, axes::query<>, model_dim<7>> out(2, 3);
  REQUIRE(kernel<fake::layer>{}.try_call(hidden, packed, out));
  const fake::recording r = fake::last();
  CHECK(r.target == fake::least_target());
  REQUIRE(r.read.size() == 9);
  for (int i = 0; i < 4; ++i) {
    CHECK(r.read[static_cast<std::size_t>(1 + 2 * i)].host == packed.ref()->matrices[i].data);
    CHECK(r.read[static_cast<std::size_t>(2 + 2 * i)].host == packed.ref()->matrices[i].bias);
  }
  CHECK(r.read[1].axes == std::vector<halide_dimension_t>{{0, 8 * 5, 1}, {0, 2, 8 * 5}}); // place in the panel, panel
  CHECK(r.read[1].type == halide_type_t(halide_type_uint, 16));
  CHECK(r.read[2].axes == std::vector<halide_dimension_t>{{0, 16, 1}});
  CHECK(r.read[7].axes == std::vector<halide_dimension_t>{{0, 8 * 8, 1}, {0, 1, 8 * 8}});
  call_options other;
  other.target = fake::foreign_target();
  const status s = kernel<fake::layer>{}.try_call(hidden, packed, out, other);
  CHECK(s.code == error_code::wrong_weights);
  CHECK_THAT(s.message(), Contains("were packed for target"));
}

TEST_CASE_METHOD(layer_weights, "empty and foreign weights are refused at the call") {
  tensor<bf16_t, axes::query<>, model_dim<5>> hidden(3);
  tensor<bf16_t, axes::query<>, model_dim<7>> out(3);
  const status empty = kernel<fake::layer>{}.try_call(hidden, packed_weights<fake::layer>(), out);
  CHECK(empty.code == error_code::missing_tensor);
  CHECK_THAT(empty.message(), Contains("no packed weights were passed"));
  packed_weights_ref foreign;
  foreign.spec = "someone::elses", foreign.hash = "9999999999999999";
  tensor_ref refs[] = {erase(hidden), {}, erase(out)};
  refs[1].data = &foreign;
  const status s = call(artefact<fake::layer>::info(), refs, 3, nullptr, 0, {});
  CHECK(s.code == error_code::wrong_weights);
  CHECK_THAT(s.message(), Contains("packed for spec someone::elses (hash 9999999999999999), expected hash 4444444444444444"));
}

TEST_CASE_METHOD(layer_weights, "what cannot be packed is refused") {
  SECTION("no matrix") {
    all.value = {};
    fails(error_code::missing_tensor, "value_weight was not given");
  }
  SECTION("no bias") {
    all.output_bias = {};
    fails(error_code::missing_tensor, "output_bias was not given, but the spec has this bias");
  }
  SECTION("extent") {
    all.key = view<const float, model_dim<>, kv_head<>, head_dim<>>(key.data(), 4, 2, 3);
    fails(error_code::wrong_extent, "tensor key_weight: axis model_dim: expected 5 (fixed by the spec), got 4");
  }
  SECTION("negative stride") {
    all.key = view<const float, model_dim<>, kv_head<>, head_dim<>>(key.data(), {5, 2, 3}, {6, -3, 1});
    fails(error_code::wrong_stride, "axis kv_head has the negative stride -3");
  }
  SECTION("pack fails") {
    fake::fail_with(-3, "");
    fails(error_code::kernel_failed, "packing query_weight for target");
    fake::forget();
  }
  SECTION("a target without pack_weights") {
    detail::packed_memory m;
    call_options o;
    o.target = target_id::opencl;
    CHECK(pack(m, o).code == error_code::unknown_target);
  }
  SECTION("a spec without projections") {
    detail::packed_memory m;
    CHECK(pack_weights(artefact<fake::plain>::info(), {}, {}, m).code == error_code::wrong_weights);
  }
}

TEST_CASE("biases that a spec does not have are refused; without a key the output is the output projection's bias") {
  fake::forget();
  std::vector<float> zero(500);
  projection_weights<fake::crossed> w;
  w.query = view<const float, head<4>, head_dim<3>, model_dim<5>>(zero.data());
  w.key = view<const float, kv_head<2>, head_dim<3>, model_dim<6>>(zero.data());
  w.value = view<const float, kv_head<2>, value_dim<2>, model_dim<6>>(zero.data());
  w.output = view<const float, head<4>, value_dim<2>, model_dim<7>>(zero.data());
  const float bias[7] = {1, 2, 3, 4, 5, 6, 7};
  w.output_bias = view<const float, model_dim<7>>(bias);
  weight_refs with_bias = w.refs();
  with_bias.biases[0] = erase(view<const float, head<4>, head_dim<3>>(zero.data()));
  detail::packed_memory m;
  const status s = pack_weights(artefact<fake::crossed>::info(), with_bias, {}, m);
  CHECK(s.code == error_code::wrong_count);
  CHECK_THAT(s.message(), Contains("query_bias was given, but the spec has no such bias"));

  const packed_weights<fake::crossed> packed = pack_weights(w);
  tensor<float, batch<>, query<>, model_dim<5>> hidden(2, 3);
  tensor<float, batch<>, key<>, model_dim<6>> context(2, 0);
  tensor<float, batch<>, query<>, model_dim<7>> out(2, 3);
  tensor<float, batch<>, head<4>, query<>> lse(2, 3);
  REQUIRE(kernel<fake::crossed>{}.try_call(hidden, context, packed, out, lse));
  for (int b = 0; b < 2; ++b)
    for (int q = 0; q < 3; ++q)
      for (int f = 0; f < 7; ++f) REQUIRE(out(b, q, f) == bias[f]);
  CHECK(fake::last().calls == 0);
}

// The scalar reference against values that numpy computed (reference_data.py) and against values worked out by hand.
#include "dsl/reference/reference.hpp"
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

using namespace attune;
using nlohmann::json;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// The tensor number s of reference_data.py.
scalar_tensor counted(int s, std::vector<std::int64_t> extents) {
  scalar_tensor t(std::move(extents));
  for (std::size_t n = 0; n < t.values.size(); ++n) t.values[n] = static_cast<double>((7919 * static_cast<std::int64_t>(n) + 104729 * s) % 2003 - 1001) / 500.0;
  return t;
}

scalar_tensor stored(scalar_tensor t, element_type e) {
  for (double &x : t.values) x = round_to(e, x);
  return t;
}

linear_map counted_map(int s, std::int64_t inputs, std::int64_t outputs) {
  linear_map map{inputs, outputs, {}, {}};
  for (double x : counted(s, {inputs, outputs}).values) map.matrix.push_back(static_cast<float>(x / static_cast<double>(inputs)));
  for (double x : counted(s + 20, {outputs}).values) map.bias.push_back(static_cast<float>(x));
  return map;
}

setting fixed_if(const json &c, const char *name) { return c.contains(name) ? setting{setting::fixed, c[name].get<double>()} : setting{}; }

reference_operator operator_of(const json &c) {
  reference_operator op;
  numbers &n = op.n;
  n.element = c["element"] == "f16" ? element_type::f16 : c["element"] == "bf16" ? element_type::bf16 : element_type::f32;
  n.heads = c["heads"], n.kv_heads = c["kv_heads"], n.head_dim = c["head_dim"], n.value_dim = c["value_dim"];
  n.scale = {setting::fixed, c["scale"]};
  n.softcap = fixed_if(c, "softcap"), n.window = fixed_if(c, "window");
  n.causal = c["causal"] == "bottom_right" ? causal_alignment::bottom_right : c["causal"] == "top_left" ? causal_alignment::top_left : causal_alignment::off;
  n.key_lengths = c.contains("key_lengths");
  n.returns_lse = n.returns_weights = true;
  if (c.contains("model_dim")) {
    n.source = source_kind::projection;
    n.model_dim = n.output_dim = c["model_dim"];
    n.projection_bias = n.output_bias = n.same_extents = true;
  }
  using enum axis_name;
  if (c.contains("boolean")) op.inputs.push_back({"mask", tensor_role::boolean_mask, element_type::boolean, 3, {batch, query, key}});
  if (c.contains("additive")) op.inputs.push_back({"bias", tensor_role::additive_mask, element_type::f32, 2, {head, key}});
  if (c.contains("alibi"))
    op.score_functions.push_back([](double s, const position_index &at, const scalar_reader &) {
      return s + std::ldexp(1.0, -1 - static_cast<int>(at.head)) * static_cast<double>(at.key - at.query);
    });
  return op;
}

void require_close(const scalar_tensor &got, const json &expected) {
  REQUIRE(got.values.size() == expected.size());
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    if (expected[i].is_string()) CHECK(got.values[i] == -infinity);
    else CHECK(got.values[i] == Approx(expected[i].get<double>()).epsilon(1e-12).margin(1e-13));
  }
}

/// One head, head_dim 1, value_dim 1, scale 1: scores are q k, so that results can be worked out by hand.
struct small {
  reference_operator op;
  reference_arguments a;
  small(std::vector<double> q, std::vector<double> k, std::vector<double> v) {
    op.n.heads = op.n.kv_heads = op.n.head_dim = op.n.value_dim = 1;
    op.n.returns_weights = true;
    a.query = scalar_tensor({1, 1, static_cast<std::int64_t>(q.size()), 1});
    a.key = a.value = scalar_tensor({1, 1, static_cast<std::int64_t>(k.size()), 1});
    a.query.values = std::move(q), a.key.values = std::move(k), a.value.values = std::move(v);
  }
  reference_answer answer() const { return evaluate_reference(op, a); }
};

} // namespace

TEST_CASE("the reference gives what numpy gives") {
  std::ifstream file(ATTUNE_REFERENCE_DATA);
  const json data = json::parse(file);
  REQUIRE(data["cases"].size() == 22);
  for (const json &c : data["cases"]) {
    INFO(c["name"].get<std::string>());
    const reference_operator op = operator_of(c);
    const numbers &n = op.n;
    const std::int64_t b = c["batch"], nq = c["queries"], nk = c["keys"];
    linear_map q, k, v, o;
    reference_arguments a;
    if (is_projected(n)) {
      q = counted_map(2, n.model_dim, n.heads * n.head_dim), k = counted_map(3, n.model_dim, n.kv_heads * n.head_dim);
      v = counted_map(4, n.model_dim, n.kv_heads * n.value_dim), o = counted_map(5, n.heads * n.value_dim, n.model_dim);
      a.hidden = stored(counted(1, {b, nq, n.model_dim}), n.element);
      a.query_projection = &q, a.key_projection = &k, a.value_projection = &v, a.output_projection = &o;
    } else {
      a.query = stored(counted(1, {b, n.heads, nq, n.head_dim}), n.element);
      a.key = stored(counted(2, {b, n.kv_heads, nk, n.head_dim}), n.element);
      a.value = stored(counted(3, {b, n.kv_heads, nk, n.value_dim}), n.element);
    }
    if (n.key_lengths) a.key_lengths = c["key_lengths"].get<std::vector<std::int64_t>>();
    if (c.contains("boolean")) {
      a.inputs.push_back(counted(8, {b, nq, nk}));
      for (double &x : a.inputs.back().values) x = x > -1.0;
    }
    if (c.contains("additive")) a.inputs.push_back(counted(9, {n.heads, nk}));
    const reference_answer answer = evaluate_reference(op, a);
    require_close(answer.output, c["output"]);
    require_close(answer.lse, c["lse"]);
    require_close(answer.weights, c["weights"]);
  }
}

TEST_CASE("weights, output and log-sum-exp by hand") {
  const double e = std::exp(1.0);
  const reference_answer r = small({1}, {0, 1}, {10, 20}).answer(); // scores 0 and 1
  CHECK(r.weights.values[0] == Approx(1 / (1 + e)).epsilon(1e-15));
  CHECK(r.output.values[0] == Approx((10 + 20 * e) / (1 + e)).epsilon(1e-15));
  CHECK(r.lse.values[0] == Approx(std::log(1 + e)).epsilon(1e-15));
  CHECK(r.largest_value == 20);
  CHECK_FALSE(r.has_empty_row);
}

TEST_CASE("a row without keys is 0 and -inf") {
  small s({1, not_a_number}, {1, 1}, {3, 5});
  s.op.n.key_lengths = true;
  s.a.key_lengths = {0};
  const reference_answer r = s.answer();
  CHECK(r.has_empty_row);
  CHECK(r.output.values == std::vector<double>{0, 0});
  CHECK(r.lse.values == std::vector<double>{-infinity, -infinity});
}

TEST_CASE("causal: bottom_right leaves leading rows empty, top_left does not") {
  small s({0, 0, 0}, {0, 0}, {4, 8});
  s.op.n.causal = causal_alignment::bottom_right;
  CHECK(s.answer().output.values == std::vector<double>{0, 4, 6});
  s.op.n.causal = causal_alignment::top_left;
  CHECK(s.answer().output.values == std::vector<double>{4, 6, 6});
}

TEST_CASE("window w is the position itself and w keys before it, on causal's diagonal") {
  small s({0, 0}, {0, 0, 0, 0}, {3, 6, 12, 24});
  s.op.n.window = {setting::fixed, 1};
  CHECK(s.answer().output.values == std::vector<double>{14, 18}); // no causal: keys 1..3 and 2..3
  s.op.n.causal = causal_alignment::bottom_right;
  CHECK(s.answer().output.values == std::vector<double>{9, 18}); // keys 1..2 and 2..3
  s.op.n.causal = causal_alignment::top_left;
  CHECK(s.answer().output.values == std::vector<double>{3, 4.5}); // keys 0 and 0..1
}

TEST_CASE("a causal diagonal ignores key lengths") {
  small s({0, 0}, {0, 0, 0}, {1, 2, 4});
  s.op.n.causal = causal_alignment::bottom_right;
  s.op.n.key_lengths = true;
  s.a.key_lengths = {1};
  CHECK(s.answer().output.values == std::vector<double>{1, 1}); // rows reach keys 0..1 and 0..2, of which only key 0 counts
}

TEST_CASE("masked keys are not read, NaN in a query shows") {
  small s({1, not_a_number}, {2, not_a_number, infinity}, {7, not_a_number, not_a_number});
  s.op.n.key_lengths = true;
  s.a.key_lengths = {1};
  const reference_answer r = s.answer();
  CHECK(r.output.values[0] == 7);
  CHECK(std::isnan(r.output.values[1]));
  CHECK(std::isnan(r.lse.values[1]));
  CHECK(r.largest_value == 7);
}

TEST_CASE("hugely negative scores that are equal average equally") {
  small s({1}, {0.25, 0.5}, {2, 4});
  s.op.inputs.push_back({"bias", tensor_role::additive_mask, element_type::f32, 1, {axis_name::key}});
  s.a.inputs.emplace_back(std::vector<std::int64_t>{2}, -3.4e38);
  CHECK(s.answer().output.values[0] == 3);
  s.a.inputs[0].values[1] = -infinity;
  CHECK(s.answer().output.values[0] == 2);
  s.a.inputs[0].values[0] = -infinity;
  CHECK(s.answer().has_empty_row);
}

TEST_CASE("softcap, then score functions, then additive masks") {
  small s({1}, {100, 0}, {1, 0});
  s.op.n.softcap = {setting::fixed, 2};
  s.op.score_functions.push_back([](double x, const position_index &, const scalar_reader &) { return 3 * x; });
  s.op.inputs.push_back({"bias", tensor_role::additive_mask, element_type::f32, 1, {axis_name::key}});
  s.a.inputs.emplace_back(std::vector<std::int64_t>{2}, 0.5);
  CHECK(s.answer().lse.values[0] == Approx(std::log(std::exp(6 * std::tanh(50.0) + 0.5) + std::exp(0.5))).epsilon(1e-14));
}

TEST_CASE("zero extents") {
  small no_keys({1, 1}, {}, {});
  CHECK(no_keys.answer().output.values == std::vector<double>{0, 0});
  CHECK(no_keys.answer().has_empty_row);
  CHECK(small({}, {1}, {1}).answer().output.values.empty());
}

TEST_CASE("rounding to an element: nearest, ties to even, subnormals, overflow") {
  using enum element_type;
  CHECK(round_to(bf16, 1 + 0x1p-8) == 1);
  CHECK(round_to(bf16, 1 + 0x3p-8) == 1 + 0x1p-6);
  CHECK(round_to(bf16, 1 + 0x1.8p-8) == 1 + 0x1p-7);
  CHECK(round_to(bf16, -3.39e38) == -0x1.fep127);
  CHECK(round_to(bf16, -3.4e38) == -infinity);
  CHECK(round_to(bf16, 0x1.ffp127) == infinity);
  CHECK(round_to(f16, 1 + 0x1p-11) == 1);
  CHECK(round_to(f16, 1 + 0x3p-11) == 1 + 0x1p-9);
  CHECK(round_to(f16, 65519) == 65504);
  CHECK(round_to(f16, -65520) == -infinity);
  CHECK(round_to(f16, 0x1p-25) == 0);
  CHECK(round_to(f16, 0x1.8p-25) == 0x1p-24);
  CHECK(round_to(f16, 0x1p-14 - 0x1p-25) == 0x1p-14);
  CHECK(round_to(f32, 1 + 0x1p-24) == 1);
  CHECK(std::isnan(round_to(f16, not_a_number)));
  CHECK(round_to(bf16, -infinity) == -infinity);
}

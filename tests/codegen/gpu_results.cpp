// The GPU schedule's results, on an OpenCL device (PoCL), against a plain loop in double precision.
#include "tests/codegen/gpu_trial.hpp"
#include <catch2/catch.hpp>

using namespace attune;
using namespace gpu_trial;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();

answer check(on_opencl &kernel, const operator_description &op, const arguments &a, const meaning &m = {}) {
  CAPTURE(a.batches, a.queries, a.keys, a.sequence_first);
  answer got = kernel.run(a);
  const answer want = expected(op, a, m);
  CHECK(distance(got.output, want.output) <= bound(op, a));
  if (op.n.returns_lse) CHECK(distance(got.lse, want.lse) <= 1e-5);
  return got;
}

/// Lengths around the tile of 64 queries and 32 keys, one element, primes, and Nq != Nk.
const std::vector<std::array<int, 3>> shapes{{1, 1, 1}, {1, 2, 31}, {1, 33, 2}, {3, 31, 33}, {1, 63, 65}, {1, 65, 63}, {1, 64, 64}, {2, 100, 37}, {1, 1, 100}, {1, 100, 1}};

void check_shapes(const operator_description &op) {
  on_opencl kernel(op);
  for (const auto &[b, q, k] : shapes) check(kernel, op, random_arguments(op, b, q, k));
}

/// Pseudo-random, but the same for the same place.
bool coin(int a, int b, int c) { return (a * 7919 + b * 104729 + c * 1299709 + a * b * 31 + b * c * 17) % 3 != 0; }

} // namespace

TEST_CASE("no mask, every element type") {
  const auto e = GENERATE(element_type::f32, element_type::f16, element_type::bf16);
  CAPTURE(name_of(e));
  operator_description op = attention(2, 2, 64, 64, e);
  op.n.returns_lse = true;
  check_shapes(op);
}

TEST_CASE("causal, every alignment, grouped heads") {
  operator_description op = attention(4, 2, 32, 32);
  op.n.causal = GENERATE(causal_alignment::bottom_right, causal_alignment::top_left);
  op.n.returns_lse = true;
  check_shapes(op);
}

TEST_CASE("head dimensions, small, odd and large") {
  const auto dims = GENERATE(values<std::array<int, 2>>({{1, 1}, {2, 2}, {3, 5}, {80, 80}, {96, 32}, {128, 128}, {256, 256}}));
  CAPTURE(dims[0], dims[1]);
  const operator_description op = attention(2, 1, dims[0], dims[1]);
  on_opencl kernel(op);
  check(kernel, op, random_arguments(op, 1, 65, 33));
  check(kernel, op, random_arguments(op, 2, 17, 100));
}

TEST_CASE("sequence-first layout is a matter of strides") {
  operator_description op = attention(4, 2, 32, 32, GENERATE(element_type::f32, element_type::bf16));
  op.n.returns_lse = true;
  on_opencl kernel(op);
  arguments a = random_arguments(op, 2, 37, 70);
  const answer plain = kernel.run(a);
  a.sequence_first = true;
  const answer strided = check(kernel, op, a);
  CHECK(distance(plain.output, strided.output) == 0);
}

TEST_CASE("sliding window, fixed and at the call") {
  operator_description op = attention(2, 1, 128, 128);
  op.n.causal = causal_alignment::bottom_right;
  op.n.window = GENERATE(setting{setting::fixed, 40}, setting{setting::at_call, 0});
  on_opencl kernel(op);
  for (const int window : {0, 1, 40, 1000, std::numeric_limits<int>::max()}) {
    if (op.n.window.kind == setting::fixed && window != 40) continue;
    CAPTURE(window);
    for (const auto &[q, k] : std::vector<std::array<int, 2>>{{100, 100}, {33, 130}, {100, 37}}) {
      arguments a = random_arguments(op, 1, q, k);
      a.window = window;
      check(kernel, op, a);
    }
  }
}

TEST_CASE("scale and softcap, fixed and at the call") {
  operator_description op = attention(2, 2, 32, 32);
  const bool at_call = GENERATE(false, true);
  op.n.scale = at_call ? setting{setting::at_call, 0} : setting{setting::fixed, 1};
  op.n.softcap = at_call ? setting{setting::at_call, 0} : setting{setting::fixed, 2.5};
  op.n.returns_lse = true;
  on_opencl kernel(op);
  arguments a = random_arguments(op, 1, 65, 70);
  a.scale = at_call ? 0.7 : 1;
  a.softcap = at_call ? 5 : 2.5;
  check(kernel, op, a);
}

TEST_CASE("key lengths: keys from there on are masked and never read") {
  operator_description op = attention(2, 1, 32, 32);
  op.n.key_lengths = true;
  op.n.causal = GENERATE(causal_alignment::off, causal_alignment::bottom_right);
  op.n.returns_lse = true;
  on_opencl kernel(op);
  arguments a = random_arguments(op, 4, 33, 70);
  a.key_lengths = {70, 33, 1, 0};
  for (int b = 0; b < a.batches; ++b)
    for (int k = a.key_lengths[b]; k < a.keys; ++k)
      for (int d = 0; d < 32; ++d) a.key({b, 0, k, d}) = a.value({b, 0, k, d}) = not_a_number;
  const answer got = check(kernel, op, a);
  CHECK(got.output({3, 1, 32, 0}) == 0);
  CHECK(got.lse({3, 1, 32}) == -infinity);
}

TEST_CASE("boolean masks may lack any axis") {
  const auto axes = GENERATE(values<std::vector<axis_name>>({{axis_name::batch, axis_name::key},
                                                             {axis_name::query, axis_name::key},
                                                             {axis_name::batch, axis_name::head, axis_name::query, axis_name::key}}));
  operator_description op = attention(2, 2, 32, 32);
  input_declaration mask{"mask", tensor_role::boolean_mask, element_type::boolean, static_cast<int>(axes.size()), {}};
  std::copy(axes.begin(), axes.end(), mask.axes);
  op.inputs = {mask};
  op.n.returns_lse = true;
  on_opencl kernel(op);
  for (const auto &[q, k] : std::vector<std::array<int, 2>>{{65, 63}, {31, 100}, {2, 1}}) {
    arguments a = random_arguments(op, 2, q, k);
    std::vector<int> extents;
    const auto extent = [&](axis_name x) { return x == axis_name::batch ? 2 : x == axis_name::head ? 2 : x == axis_name::query ? q : k; };
    for (const axis_name x : axes) extents.push_back(extent(x));
    dense values(extents);
    for (std::size_t i = 0; i < values.values.size(); ++i) values.values[i] = coin(static_cast<int>(i), 3, 5);
    a.inputs = {values};
    meaning m;
    m.allowed = [&](int b, int h, int query, int key) {
      std::vector<int> at;
      for (const axis_name x : axes) at.push_back(x == axis_name::batch ? b : x == axis_name::head ? h : x == axis_name::query ? query : key);
      return values(at) != 0;
    };
    check(kernel, op, a, m);
  }
}

TEST_CASE("additive masks: -inf masks, the lowest finite number does not") {
  const auto e = GENERATE(element_type::f32, element_type::f16, element_type::bf16);
  CAPTURE(name_of(e));
  operator_description op = attention(2, 2, 32, 32, e);
  op.inputs = {{"bias", tensor_role::additive_mask, e, 2, {axis_name::query, axis_name::key}}};
  op.n.returns_lse = true;
  on_opencl kernel(op);
  arguments a = random_arguments(op, 1, 40, 70);
  dense bias({40, 70});
  const double lowest = e == element_type::f16 ? -65504.0 : -std::ldexp(255, 120); // exact in bf16 and f32
  for (int q = 0; q < 40; ++q)
    for (int k = 0; k < 70; ++k) bias({q, k}) = q == 0 ? -infinity : q == 1 ? lowest : coin(q, k, 1) ? 0.25 * ((q + k) % 9 - 4) : -infinity;
  a.inputs = {bias};
  meaning m;
  m.allowed = [&](int, int, int q, int k) { return bias({q, k}) != -infinity; };
  m.score = [&](double s, int, int, int q, int k) { return s + bias({q, k}); };
  const answer got = kernel.run(a), want = expected(op, a, m);
  CHECK(distance(got.output, want.output) <= bound(op, a));
  for (int q = 0; q < 40; ++q)
    if (q != 1) CHECK(std::abs(got.lse({0, 1, q}) - (q ? want.lse({0, 1, q}) : 0)) <= (q ? 1e-5 : infinity));
  CHECK(got.lse({0, 0, 0}) == -infinity);
  CHECK(got.output({0, 0, 0, 0}) == 0);
}

TEST_CASE("user functions, with an input, and with steps that they leave empty") {
  operator_description op = attention(3, 1, 32, 32);
  op.inputs = {{"slope", tensor_role::input, element_type::f32, 1, {axis_name::head}}};
  op.score_functions = {[](Halide::Expr s, const position_expr &at, const input_reader &read) {
                          return s - read(0, {at.head}) * Halide::cast<float>(at.query - at.key);
                        },
                        [](Halide::Expr s, const position_expr &at, const input_reader &) { return Halide::select(at.key % 2 == 0, s, 2.0f * s); }};
  op.mask_functions = {[](const position_expr &at, const input_reader &) { return at.query - at.key < 40 && at.key - at.query < 20; }};
  op.n.returns_lse = true;
  on_opencl kernel(op);
  meaning m;
  m.allowed = [](int, int, int q, int k) { return q - k < 40 && k - q < 20; };
  m.score = [](double s, int, int h, int q, int k) {
    const double slope = 0.0625 * (h + 1), shifted = s - slope * (q - k);
    return k % 2 == 0 ? shifted : 2 * shifted;
  };
  for (const auto &[q, k] : std::vector<std::array<int, 2>>{{200, 200}, {65, 129}, {129, 65}}) {
    arguments a = random_arguments(op, 1, q, k);
    a.inputs = {dense({3})};
    for (int h = 0; h < 3; ++h) a.inputs[0]({h}) = 0.0625 * (h + 1);
    for (int key = 0; key < k; ++key) // in steps that no query of the first tile may attend to
      if (key >= 63 + 20 + 32 && q <= 64) a.key({0, 0, key, 0}) = not_a_number;
    check(kernel, op, a, m);
  }
}

TEST_CASE("all masks at once") {
  operator_description op = attention(4, 2, 24, 40, GENERATE(element_type::f32, element_type::f16));
  op.n.causal = causal_alignment::bottom_right;
  op.n.window = {setting::fixed, 50};
  op.n.softcap = {setting::fixed, 2};
  op.n.key_lengths = true;
  op.n.returns_lse = true;
  op.inputs = {{"mask", tensor_role::boolean_mask, element_type::boolean, 3, {axis_name::batch, axis_name::query, axis_name::key}},
               {"bias", tensor_role::additive_mask, op.n.element, 2, {axis_name::head, axis_name::key}}};
  op.mask_functions = {[](const position_expr &at, const input_reader &) { return (at.query + at.key) % 5 != 0; }};
  on_opencl kernel(op);
  for (const auto &[q, k] : std::vector<std::array<int, 2>>{{70, 100}, {100, 70}}) {
    arguments a = random_arguments(op, 2, q, k);
    a.key_lengths = {k, 41};
    dense mask({2, q, k}), bias({4, k});
    for (int b = 0; b < 2; ++b)
      for (int i = 0; i < q; ++i)
        for (int j = 0; j < k; ++j) mask({b, i, j}) = coin(b, i, j);
    for (int h = 0; h < 4; ++h)
      for (int j = 0; j < k; ++j) bias({h, j}) = coin(h, j, 2) ? 0.5 * (j % 5) - 1 : -infinity;
    a.inputs = {mask, bias};
    meaning m;
    m.allowed = [&](int b, int h, int i, int j) { return mask({b, i, j}) != 0 && bias({h, j}) != -infinity && (i + j) % 5 != 0; };
    m.score = [&](double s, int, int h, int, int j) { return s + bias({h, j}); };
    check(kernel, op, a, m);
  }
}

TEST_CASE("empty rows are exactly zero, and NaN comes out where it went in") {
  operator_description op = attention(1, 1, 32, 32);
  op.n.causal = causal_alignment::bottom_right;
  op.n.returns_lse = true;
  on_opencl kernel(op);
  arguments a = random_arguments(op, 1, 100, 37); // the first 63 rows are empty
  for (int d = 0; d < 32; ++d) a.key({0, 0, 36, d}) = not_a_number; // the last key: only the last row may attend to it
  a.query({0, 0, 80, 3}) = not_a_number;
  a.query({0, 0, 2, 3}) = not_a_number;
  const answer got = check(kernel, op, a);
  for (int d = 0; d < 32; ++d) {
    CHECK((got.output({0, 0, 2, d}) == 0 && !std::signbit(got.output({0, 0, 2, d}))));
    CHECK(std::isnan(got.output({0, 0, 80, d})));
    CHECK(std::isnan(got.output({0, 0, 99, d})));
    CHECK(std::isfinite(got.output({0, 0, 98, d})));
  }
  CHECK(got.lse({0, 0, 0}) == -infinity);
}

TEST_CASE("masked values may hold anything where the spec says so") {
  operator_description op = attention(1, 1, 32, 32, GENERATE(element_type::f32, element_type::bf16));
  op.n.causal = causal_alignment::top_left;
  op.n.masked_values = masked_value_policy::anything;
  on_opencl kernel(op);
  arguments a = random_arguments(op, 1, 70, 100);
  for (int k = 50; k < 100; ++k)
    for (int d = 0; d < 32; ++d) a.value({0, 0, k, d}) = k % 2 ? not_a_number : infinity;
  const answer got = kernel.run(a), want = expected(op, a, {});
  for (int q = 0; q < 50; ++q)
    for (int d = 0; d < 32; ++d) CHECK(std::abs(got.output({0, 0, q, d}) - want.output({0, 0, q, d})) <= bound(op, a));
  for (int q = 51; q < 70; ++q) CHECK(std::isnan(got.output({0, 0, q, 7})));
}

TEST_CASE("scores of any size, and a maximum that rises with every block") {
  const operator_description op = attention(1, 1, 32, 32);
  on_opencl kernel(op);
  arguments a = random_arguments(op, 1, 64, 320);
  for (double &v : a.query.values) v = 1;
  const auto [start, slope] = GENERATE(values<std::pair<double, double>>({{0, 0}, {-500000, 0}, {0, 0.015625}, {0, 64}, {0, -64}, {-500000, 64}}));
  CAPTURE(start, slope);
  for (int k = 0; k < 320; ++k)
    for (int d = 0; d < 32; ++d) a.key({0, 0, k, d}) = start + slope * (k / 32);
  check(kernel, op, a);
}

TEST_CASE("other points of the family compute the same operator, or are refused by a rule") {
  operator_description op = attention(2, 1, 64, 64);
  op.n.causal = causal_alignment::bottom_right;
  op.n.returns_lse = true;
  const auto chosen = GENERATE(values<std::array<int, 7>>({{32, 32, 4, 4, 8, 4, 4}, {64, 64, 4, 8, 4, 8, 1}, {32, 16, 2, 2, 4, 2, 4}, {128, 32, 8, 4, 4, 4, 4}}));
  schedule_point p = gpu_default(op, info_of(target_id::opencl));
  for (std::size_t i = 0; i < chosen.size(); ++i) p.parameters[i].second = chosen[i];
  CAPTURE(p.text());
  const std::string broken = gpu_broken_rule(op, info_of(target_id::opencl), p);
  if (!broken.empty()) {
    CHECK_THROWS_WITH(on_opencl(op, p), Catch::Contains(broken));
    return;
  }
  on_opencl kernel(op, p);
  check(kernel, op, random_arguments(op, 1, 100, 131));
}

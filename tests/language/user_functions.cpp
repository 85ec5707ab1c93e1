// One function, read three ways: with doubles, with Halide expressions, and on trial.
#include "dsl/pipeline/describe.hpp"
#include "dsl/reference/refer.hpp"
#include <catch2/catch.hpp>
#include <cmath>

namespace {
using namespace attune;

struct slope {};
struct document {};
struct functions {
  static constexpr auto spec =
      operands(heads<3>, head_dim<8>, element<f32>, input<slope>(f32, axis::head), input<document>(i32, axis::batch, axis::key))
    | scores([](auto s, auto at) { return s - at(slope{}, at.head) * (at.query - at.key); },
             [](auto s, auto at) { return select(at.query == at.key, s * 0.5, 2 * s); },
             [](auto s, auto) { return tanh(s / 3) + exp(-abs(s)); },
             [](auto s, auto at) { return s + (at.key - 5) / 2 + (at.query - at.key) % 3; },
             [](auto s, auto at) { return max(min(s, 1.0), -at.head) + at.query / -2; },
             [](auto s, auto at) { return s * (at.query > at.key) + 1; },
             [](auto s, auto at) { return s / (1 + at.key) - at.key / (at.query - at.query); },
             [](auto s, auto at) { s += at.key; s *= 2; s -= 0.5; s /= 1 + at.query; return s; },
             [](auto, auto) { return 0.25; })
    | mask([](auto at) { return at.query - at.key < 4 && !(at.key == 2); },
           [](auto at) { return at.query / 4 == at.key / 4 || at.key % 5 != 1; },
           [](auto at) { return at(document{}, at.batch, at.query) == at(document{}, at.batch, at.key); },
           [](auto at) { return select(at.head == 1, at.key >= 3, at.key <= at.query); },
           [](auto at) { return at(document{}, at.batch, at.key) / 2 > 0; },
           [](auto) { return true; })
    | softmax()
    | weighted_sum();
};

constexpr int extent = 13;
double input_value(int input, std::int64_t i, std::int64_t j) { return input == 0 ? 0.25 * double(i + 1) : double(i + j / 3); }
const scalar_reader read_scalar = [](int input, const std::vector<std::int64_t> &at) {
  return input_value(input, at[0], at.size() > 1 ? at[1] : 0);
};
const input_reader read_expr = [](int input, const std::vector<Halide::Expr> &at) -> Halide::Expr {
  if (input == 0) return 0.25f * (at[0] + 1);
  return at[0] + at[1] / 3;
};
double score_at(int head, int query, int key) { return 0.375 * query - 0.5 * key + head; }

/// The values of an expression over head, query and key.
struct grid {
  Halide::Var head, query, key;
  position_expr at() const { return {1, head, query, key}; }
  Halide::Buffer<float> values(const Halide::Expr &e) const {
    Halide::Func f;
    f(key, query, head) = Halide::cast<float>(e);
    return f.realize({extent, extent, 3});
  }
};
template <class Check> void each_position(Check check) {
  for (int head = 0; head < 3; ++head)
    for (int query = 0; query < extent; ++query)
      for (int key = 0; key < extent; ++key) check(head, query, key);
}
} // namespace

TEST_CASE("score functions agree in double and in f32") {
  const reference_operator scalar = refer<functions>();
  const operator_description symbolic = describe<functions>();
  REQUIRE(scalar.score_functions.size() == 9);
  REQUIRE(symbolic.score_functions.size() == 9);
  const grid g;
  const Halide::Expr score = 0.375f * g.query - 0.5f * g.key + g.head;
  for (std::size_t f = 0; f < scalar.score_functions.size(); ++f) {
    const Halide::Expr e = symbolic.score_functions[f](score, g.at(), read_expr);
    CHECK(e.type() == Halide::Float(32));
    const Halide::Buffer<float> values = g.values(e);
    each_position([&](int head, int query, int key) {
      const double expected = scalar.score_functions[f](score_at(head, query, key), {1, head, query, key}, read_scalar);
      INFO("function " << f << " at head " << head << ", query " << query << ", key " << key);
      CHECK(std::abs(values(key, query, head) - expected) <= 1e-6 * (1 + std::abs(expected)));
    });
  }
}

TEST_CASE("mask functions agree exactly") {
  const reference_operator scalar = refer<functions>();
  const operator_description symbolic = describe<functions>();
  REQUIRE(scalar.mask_functions.size() == 6);
  REQUIRE(symbolic.mask_functions.size() == 6);
  const grid g;
  for (std::size_t f = 0; f < scalar.mask_functions.size(); ++f) {
    const Halide::Expr e = symbolic.mask_functions[f](g.at(), read_expr);
    CHECK(e.type().is_bool());
    const Halide::Buffer<float> values = g.values(e);
    each_position([&](int head, int query, int key) {
      INFO("function " << f << " at head " << head << ", query " << query << ", key " << key);
      CHECK((values(key, query, head) != 0) == scalar.mask_functions[f]({1, head, query, key}, read_scalar));
    });
  }
}

TEST_CASE("whole numbers divide as Halide's: the remainder is never negative, and dividing by zero gives zero") {
  Halide::Var a, b;
  Halide::Func divided, rest;
  divided(a, b) = (a - 10) / (b - 4);
  rest(a, b) = (a - 10) % (b - 4);
  const Halide::Buffer<int> quotients = divided.realize({21, 9}), rests = rest.realize({21, 9});
  for (int i = 0; i < 21; ++i)
    for (int j = 0; j < 9; ++j) {
      CHECK(language::quotient(std::int64_t(i - 10), std::int64_t(j - 4)) == quotients(i, j));
      CHECK(language::remainder(std::int64_t(i - 10), std::int64_t(j - 4)) == rests(i, j));
    }
}

TEST_CASE("on trial only kinds are known") {
  using language::kind, language::trial_number, language::trial_traits;
  constexpr language::place<trial_number, language::read_anything> at{};
  constexpr trial_number s;
  STATIC_REQUIRE(trial_traits<decltype(s * 0.5 + at.query % 2)>::of_kind == kind::number);
  STATIC_REQUIRE(trial_traits<decltype(at.query < at.key || true)>::of_kind == kind::condition);
  STATIC_REQUIRE(trial_traits<decltype(select(at.key == 0, s, 0.5))>::of_kind == kind::number);
  STATIC_REQUIRE(trial_traits<decltype(select(at.key == 0, at.key < 1, false))>::of_kind == kind::condition);
  STATIC_REQUIRE(trial_traits<decltype(max(exp(s), tanh(-s)))>::of_kind == kind::number);
}

namespace {
struct published {
  static constexpr auto spec = attention(heads<12>, head_dim<8>, element<f32>, alibi<>, relative_bias<32, 128, bidirectional>, causal<align::top_left>);
};
struct one_way {
  static constexpr auto spec = attention(heads<8>, head_dim<8>, element<f32>, alibi<>, relative_bias<32, 128, unidirectional>, causal<align::top_left>);
};
/// The value of score function `number` of a spec, in double and as an expression, on 0; a table holds the bucket's number.
template <class Spec> std::pair<double, float> bias_at(int number, int head, int position, int key) {
  const double scalar = refer<Spec>().score_functions[number](0, {0, head, 0, key, head, position, 1, 1}, [](int, const std::vector<std::int64_t> &at) { return double(at[1]); });
  const Halide::Expr e = describe<Spec>().score_functions[number](0.0f, {0, head, 0, key, head, position, 1, 1},
                                                                  [](int, const std::vector<Halide::Expr> &at) { return Halide::cast<float>(at[1]); });
  Halide::Func f;
  f() = e;
  const Halide::Buffer<float> value = f.realize();
  return {scalar, value()};
}
} // namespace

TEST_CASE("linear biases have the published slopes") {
  // 12 heads: those of 8, then the first, third, ... of 16
  const double slopes[] = {0x1p-1, 0x1p-2, 0x1p-3, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8, std::exp2(-0.5), std::exp2(-1.5), std::exp2(-2.5), std::exp2(-3.5)};
  for (int head = 0; head < 12; ++head)
    for (const int key : {0, 7, 11}) {
      const auto [scalar, expr] = bias_at<published>(0, head, 7, key);
      CHECK(scalar == Approx(-slopes[head] * std::abs(7 - key)).epsilon(1e-14));
      CHECK(expr == Approx(scalar).epsilon(1e-6));
    }
  for (int head = 0; head < 8; ++head) CHECK(bias_at<one_way>(0, head, 3, 2).first == Approx(-std::exp2(-(head + 1))));
}

TEST_CASE("relative biases look up the published buckets") {
  // distance (query - key): bucket, by the T5 code's formula; ties of the logarithm fall where its exact value does
  const std::pair<int, int> both[] = {{0, 0}, {1, 1}, {7, 7}, {8, 8}, {11, 8}, {12, 9}, {15, 9}, {16, 10}, {22, 10}, {23, 11}, {32, 12}, {64, 14}, {90, 14}, {91, 15}, {500, 15}, {-1, 17}, {-8, 24}, {-500, 31}};
  const std::pair<int, int> past[] = {{0, 0}, {15, 15}, {16, 16}, {18, 16}, {19, 17}, {32, 21}, {127, 31}, {128, 31}, {900, 31}, {-1, 0}, {-70, 0}};
  for (const auto &[distance, bucket] : both) CHECK(bias_at<published>(1, 3, distance, 0) == std::pair<double, float>(bucket, static_cast<float>(bucket)));
  for (const auto &[distance, bucket] : past) CHECK(bias_at<one_way>(1, 3, distance, 0) == std::pair<double, float>(bucket, static_cast<float>(bucket)));
}

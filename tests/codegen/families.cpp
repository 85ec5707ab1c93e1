// The CPU families compute the same operator, at their default points and at others: just-in-time, on AVX2, against the scalar
// reference. (The emitted kernels that other tests run all have the default family's default point.)
#include "catch2/catch.hpp"
#include "dsl/reference/reference.hpp"
#include "schedules/cpu_blocked.hpp"
#include "schedules/family.hpp"
#include "small_operator.hpp"
#include <random>

namespace {
using namespace attune;
using parameters = std::vector<std::pair<std::string, int>>;

const target_info &avx2 = info_of(target_id::avx2);

/// The default point of a family with some of its parameters replaced.
schedule_point point_of(const std::string &family, const operator_description &op, const parameters &replaced) {
  schedule_point p = find_family(family).default_point(op, avx2);
  for (const auto &[name, value] : replaced) {
    p.at(name); // throws where there is none
    for (auto &[key, old] : p.parameters)
      if (key == name) old = value;
  }
  REQUIRE(find_family(family).broken_rule(op, avx2, p) == "");
  return p;
}

/// An operator compiled at one point, for any extents.
class compiled {
public:
  compiled(const operator_description &description, const schedule_point &point)
      : op(description), args(op), attention(op, args, operand_source(args), blocking_of(op, avx2, point)) {
    output(attention.d, attention.q, attention.h, attention.b) = attention.output(attention.d, attention.q, attention.h, attention.b);
    output.output_buffer().dim(0).set_bounds(0, op.n.value_dim);
    schedule_cpu_blocked(attention, output, op, avx2, point);
    output.compile_jit(target);
  }

  /// Runs it on N(0,1) and compares. `lengths`: one per batch; used where the operator has key lengths.
  void check(int queries, int keys, const std::vector<int> &lengths) {
    INFO(queries << " queries, " << keys << " keys");
    const auto batches = static_cast<int>(lengths.size());
    Halide::Buffer<float> q(op.n.head_dim, queries, op.n.heads, batches), k(op.n.head_dim, keys, op.n.kv_heads, batches),
        v(op.n.value_dim, keys, op.n.kv_heads, batches), got(op.n.value_dim, queries, op.n.heads, batches);
    Halide::Buffer<int> length_buffer(batches);
    std::copy(lengths.begin(), lengths.end(), length_buffer.begin());
    reference_arguments a;
    a.query = filled(q), a.key = filled(k), a.value = filled(v);
    a.key_lengths.assign(lengths.begin(), lengths.end());
    args.query.set(q), args.key.set(k), args.value.set(v);
    if (op.n.key_lengths) args.key_lengths.set(length_buffer);
    output.realize(got, target);

    reference_operator meaning;
    meaning.n = op.n;
    if (!op.mask_functions.empty()) meaning.mask_functions = {[](const position_index &at, const scalar_reader &) { return at.query / 96 == at.key / 96; }};
    const reference_answer want = evaluate_reference(meaning, a);
    double worst = 0;
    for (std::size_t i = 0; i < want.output.values.size(); ++i) {
      const double off = std::abs(got.data()[i] - want.output.values[i]);
      if (!(off <= worst)) worst = off; // keeps a NaN
    }
    CHECK(worst <= 2e-6 * want.largest_value);
  }

private:
  /// Fills a buffer; the same values for the reference, whose axes lie as the buffer's do.
  scalar_tensor filled(Halide::Buffer<float> &buffer) {
    std::normal_distribution<float> normal;
    for (float &x : buffer) x = normal(random);
    scalar_tensor t({buffer.dim(3).extent(), buffer.dim(2).extent(), buffer.dim(1).extent(), buffer.dim(0).extent()});
    std::copy(buffer.begin(), buffer.end(), t.values.begin());
    return t;
  }

  const Halide::Target target = Halide::Target(avx2.halide_target).with_feature(Halide::Target::JIT);
  operator_description op;
  call_arguments args;
  blocked_attention attention;
  Halide::Func output{"output_tensor"};
  std::mt19937 random{1};
};

/// Lengths on both sides of tiles, blocks and chunks.
void check_lengths(const operator_description &op, const schedule_point &point) {
  INFO(point.text());
  compiled kernel(op, point);
  for (const auto &[queries, keys] : {std::pair{1, 1}, {1, 257}, {23, 25}, {24, 256}, {25, 127}, {97, 300}, {300, 97}, {61, 511}})
    kernel.check(queries, keys, {keys, 0, (keys + 1) / 2});
}

operator_description grouped() {
  operator_description op = small_operator(2, 24);
  op.n.kv_heads = 1;
  op.n.value_dim = 40;
  return op;
}
} // namespace

TEST_CASE("every CPU family computes the operator, at its default point and at others") {
  const auto [family, replaced] = GENERATE(values<std::pair<std::string, parameters>>({
      {"row_tile", {}},
      {"row_tile", {{"query_tile", 48}, {"key_block", 16}, {"row_group", 4}}},
      {"row_tile", {{"query_tile", 16}, {"query_vectors", 1}, {"dot_keys", 8}, {"key_block", 8}, {"dot_unroll", 1}, {"row_group", 8}, {"value_vectors", 1}, {"value_unroll", 2}}},
      {"chunk", {{"key_chunk", 96}}},
      {"chunk", {{"query_tile", 48}, {"key_chunk", 128}, {"key_block", 32}, {"row_group", 12}, {"value_vectors", 1}, {"value_unroll", 1}}},
  }));
  operator_description op = grouped();
  SECTION("no mask") { check_lengths(op, point_of(family, op, replaced)); }
  SECTION("causal, window and lengths") {
    op.n.causal = causal_alignment::bottom_right;
    op.n.window = {setting::fixed, 150};
    op.n.key_lengths = true;
    check_lengths(op, point_of(family, op, replaced));
  }
  SECTION("a mask function") {
    op.mask_functions.push_back([](const position_expr &at, const input_reader &) { return at.query / 96 == at.key / 96; });
    check_lengths(op, point_of(family, op, replaced));
  }
}

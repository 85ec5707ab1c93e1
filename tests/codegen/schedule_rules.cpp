// Families as data: every default is legal, and each rule that a point can break says so in words.
#include "catch2/catch.hpp"
#include "schedules/build.hpp"
#include "schedules/family.hpp"
#include "small_operator.hpp"

using namespace attune;
using Catch::Matchers::Contains;

namespace {
schedule_point with(schedule_point p, const std::string &name, int value) {
  for (auto &[key, old] : p.parameters)
    if (key == name) old = value;
  return p;
}
constexpr length_bucket any_length = length_bucket::prefill_long;
} // namespace

TEST_CASE("every default point is legal, and so is what is chosen") {
  for (const int head_dim : {1, 3, 16, 64, 128, 256})
    for (const bool causal : {false, true})
      for (const bool function : {false, true}) {
        operator_description op = small_operator(4, head_dim);
        if (causal) op.n.causal = causal_alignment::bottom_right;
        if (function) op.mask_functions.push_back([](const position_expr &at, const input_reader &) { return at.key > at.query; });
        for (const target_info &target : all_targets) {
          if (!why_not(op, target).empty()) continue;
          for (const length_bucket bucket : buckets_of(op.n)) {
            const schedule_point p = choose_schedule(op, target, bucket);
            INFO(target.name << " " << name_of(bucket) << " head_dim " << head_dim << " " << p.text());
            CHECK(broken_rule(op, target, bucket, p) == "");
            for (const schedule_family *f : schedule_families())
              if (f->why_not(op, target, bucket).empty()) CHECK(broken_rule(op, target, bucket, f->default_point(op, target)) == "");
          }
        }
      }
}

TEST_CASE("an illegal point is refused with the two numbers") {
  const operator_description op = small_operator(4, 64);
  const target_info &avx2 = *find_target("avx2");
  const schedule_point p = find_family("chunk").default_point(op, avx2);
  CHECK_THAT(broken_rule(op, avx2, any_length, with(p, "query_tile", 25)), Contains("must divide query_tile (25)"));
  CHECK_THAT(broken_rule(op, avx2, any_length, with(p, "value_unroll", 3)), Contains("value_unroll (3) must divide dot_keys"));
  CHECK_THAT(broken_rule(op, avx2, any_length, with(p, "key_chunk", 250)), Contains("must divide key_chunk (250)"));
  CHECK_THAT(broken_rule(op, avx2, any_length, with(with(p, "dot_keys", 8), "key_block", 8)), Contains("24 accumulators"));
  CHECK_THAT(broken_rule(op, *find_target("opencl"), any_length, p), Contains("chunk is for CPUs"));
}

TEST_CASE("a family that does not exist is refused with the names that do") {
  CHECK_THROWS_WITH(find_family("flash"), Contains("chunk, row_tile, gpu_running"));
}

TEST_CASE("parameters are data: every value of every default is among those worth trying, or is fixed by the spec") {
  const operator_description op = small_operator(4, 64);
  for (const schedule_family *family : schedule_families())
    for (const target_info &target : all_targets) {
      if (!family->why_not(op, target, any_length).empty()) continue;
      const schedule_point p = family->default_point(op, target);
      for (const schedule_parameter &parameter : family->parameters(op, target)) {
        INFO(family->name() << " on " << target.name << ": " << parameter.name << " = " << p.at(parameter.name));
        CHECK(!parameter.meaning.empty());
        CHECK(std::count(parameter.values.begin(), parameter.values.end(), p.at(parameter.name)) == 1);
      }
    }
}

// Real trials of schedules on this machine: what is right is timed, what is wrong is found out. No time is looked at.
#include "dsl/pipeline/describe.hpp"
#include "dsl/reference/refer.hpp"
#include "dsl/spec.hpp"
#include "generated/tuning/process_measurer.hpp"
#include "runtime/dispatch.hpp"
#include "tests/tuning/records.hpp"
#include <catch2/catch.hpp>
#include <cstdlib>

using namespace attune;
using Catch::Matchers::Contains;

namespace {
struct full {
  static constexpr auto spec = operands(heads<2>, head_dim<16>, element<f32>) | softmax() | weighted_sum();
};
struct masked {
  static constexpr auto spec = operands(heads<2>, head_dim<16>, element<f32>) | mask(causal<align::bottom_right>) | softmax() | weighted_sum();
};
const std::vector<tuned_calls> two_buckets{{length_bucket::decode_long, 1, 1, 600}, {length_bucket::prefill_short, 1, 40, 50}};

void need_avx2() {
  constexpr int not_run = 77;
  for (const target_report &r : machine_targets())
    if (r.target == target_id::avx2 && !r.runs_here) std::exit(not_run);
}

std::vector<measurer::result> all_results(process_measurer &m) {
  std::vector<measurer::result> all;
  while (!m.is_idle())
    for (const measurer::result &r : m.results()) all.push_back(r);
  return all;
}
} // namespace

TEST_CASE("points that are right are timed for each bucket, next to the default") {
  need_avx2();
  const operator_description op = describe<full>();
  const reference_operator reference = refer<full>();
  process_measurer m(op, reference, avx2, two_buckets, 1);
  m.prepare();
  m.start(chunk_point(op, 24));
  m.start(chunk_point(op, 48));
  const auto all = all_results(m);
  REQUIRE(all.size() == 4);
  for (const measurer::result &r : all) {
    INFO(r.t.why);
    CHECK(r.t.status == trial_status::ok);
    CHECK(r.t.seconds.size() >= 2);
    CHECK(r.t.ratio > 0);
    CHECK(r.t.default_median > 0);
    CHECK(r.t.peak > 0);
  }
  const auto race = m.race(length_bucket::prefill_short, {find_family("chunk").default_point(op, avx2), chunk_point(op, 48)}, 0.1);
  REQUIRE(race.size() == 2);
  CHECK(race.front().ratio == 1);
  CHECK(race.front().seconds.size() == race.back().seconds.size());
}

TEST_CASE("a kernel whose answers are not the reference's is wrong, and says where") {
  need_avx2();
  const operator_description op = describe<full>();
  const reference_operator reference = refer<masked>(); // another operator
  process_measurer m(op, reference, avx2, two_buckets, 1);
  m.prepare();
  m.start(chunk_point(op, 48));
  const auto all = all_results(m);
  REQUIRE(all.size() == 2);
  for (const measurer::result &r : all) {
    CHECK(r.t.status == trial_status::wrong);
    CHECK_THAT(r.t.why, Contains("output is wrong at [batch 0"));
    CHECK(r.t.seconds.empty());
  }
  CHECK_THROWS_WITH(m.race(length_bucket::prefill_short, {find_family("chunk").default_point(op, avx2)}, 0.1), Contains("the default schedule's answers are wrong"));
}

TEST_CASE("a point that breaks a rule is not compiled, and says which") {
  need_avx2();
  const operator_description op = describe<full>();
  const reference_operator reference = refer<full>();
  process_measurer m(op, reference, avx2, two_buckets, 1);
  m.prepare();
  m.start(chunk_point(op, 25));
  const auto all = all_results(m);
  REQUIRE(all.size() == 2);
  for (const measurer::result &r : all) {
    CHECK(r.t.status == trial_status::constraint);
    CHECK_THAT(r.t.why, Contains("must divide query_tile (25)"));
  }
}

TEST_CASE("more threads than CPUs are refused") {
  const operator_description op = describe<full>();
  const reference_operator reference = refer<full>();
  CHECK_THROWS_WITH(process_measurer(op, reference, avx2, two_buckets, 100000), Contains("--threads is 100000, but this process may use"));
}

// The schedule of every shipped record (schedules/tables) for the target under test computes its spec. Where there is no record, there is
// nothing to run.
#include "schedules/schedule_tables.hpp"
#include "tests/support/pinned_kernel.hpp"
#include "tests/support/recorded_specs.hpp"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

using namespace attune;
namespace fs = std::filesystem;

namespace {

/// One kernel to check, and the buckets that it is recorded for.
struct recorded_kernel {
  std::string spec;
  schedule_point point;
  std::set<length_bucket> buckets;
};

std::vector<recorded_kernel> kernels_of(const std::vector<schedule_table> &tables) {
  std::vector<recorded_kernel> all;
  for (const schedule_table &table : tables)
    for (const table_record &r : table.records) {
      if (table.target != info_of(target_under_test()).name) continue;
      auto same = std::find_if(all.begin(), all.end(), [&](const recorded_kernel &k) { return k.spec == r.spec && k.point.text() == r.schedule.text(); });
      if (same == all.end()) same = all.insert(all.end(), {r.spec, r.schedule, {}});
      same->buckets.insert(r.bucket);
    }
  return all;
}

std::vector<schedule_table> shipped_tables() {
  std::vector<schedule_table> all;
  for (const auto &entry : fs::recursive_directory_iterator(fs::path(ATTUNE_SOURCES) / "schedules/tables"))
    if (entry.is_regular_file() && entry.path().extension() == ".json") all.push_back(read_table(entry.path()).value());
  return all;
}

constexpr double work = 2e9; ///< multiply-adds of the reference for one bucket of one kernel: two seconds at most

/// What is wrong with the first case that is; empty if none is. `cases` counts them.
std::string complaint(const recorded_kernel &recorded, const operator_description &op, const reference_operator &meaning, int &cases) {
  const pinned_kernel kernel = compile_kernel(op, recorded.point);
  const auto weights = std::make_shared<check_weights>(op.n, 1);
  for (const length_bucket bucket : recorded.buckets)
    for (const check_case &how : bucket_cases(op.n, recorded.point.text(), bucket, work)) {
      ++cases;
      const check_result result = check_kernel(kernel->info(), meaning, target_under_test(), how, weights);
      if (!result.passed) return result.text;
    }
  return "";
}

struct full { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>); };
struct past { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, causal<align::bottom_right>); };

} // namespace

TEST_CASE("a recorded schedule is checked in calls of its buckets, and what is wrong is told") {
  const operator_description op = describe<full>();
  int cases = 0;
  for (const auto &[family, bucket] : {std::pair{"decode", length_bucket::decode_long}, {"chunk", length_bucket::prefill_short}}) {
    const recorded_kernel recorded{op.name, point_of(family, op), {bucket}};
    for (const check_case &how : bucket_cases(op.n, recorded.point.text(), bucket, work))
      if (how.batch == 1) CHECK(limits_of(op.n, bucket).hold(how.queries, how.keys));
    CHECK(complaint(recorded, op, refer<full>(), cases) == "");
    CHECK_THAT(complaint(recorded, op, refer<past>(), cases), Catch::Contains("output is wrong at"));
  }
  CHECK(cases > 20);
}

TEST_CASE("the schedule of every shipped record computes its spec", "[.shipped]") {
  const std::vector<recorded_kernel> all = kernels_of(shipped_tables());
  if (all.empty()) {
    std::printf("not run: no table has a record for %s\n", info_of(target_under_test()).name);
    std::exit(77);
  }
  const std::vector<operator_description> specs = describe_all(recorded_specs{});
  const std::vector<reference_operator> meanings = refer_all(recorded_specs{});
  int cases = 0;
  for (const recorded_kernel &k : all) {
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const operator_description &op) { return op.name == k.spec; });
    INFO(k.spec << ": " << k.point.text());
    REQUIRE(spec != specs.end());
    CHECK(complaint(k, *spec, meanings[static_cast<std::size_t>(spec - specs.begin())], cases) == "");
  }
  std::printf("%zu kernels, %d cases\n", all.size(), cases);
}

// Every record of the shipped tables is of a stock spec or one of the benchmarks as it is now, and legal. They serve their maker's CPUs.
#include "schedules/schedule_tables.hpp"
#include "tests/support/recorded_specs.hpp"
#include "tests/tuning/records.hpp"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace attune;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
namespace fs = std::filesystem;

namespace {
/// What is wrong with a record of a table; empty if nothing is.
std::string complaint(const table_record &r, const schedule_table &table, const std::vector<operator_description> &specs) {
  const target_info *target = find_target(table.target);
  if (!target) return "there is no target " + table.target;
  const auto spec = std::find_if(specs.begin(), specs.end(), [&](const operator_description &op) { return op.name == r.spec; });
  if (spec == specs.end()) return r.spec + " is no stock spec, and none of the benchmarks";
  if (spec_hash(*spec) != r.hash) return r.spec + " has the hash " + spec_hash(*spec) + " now, but the record is of " + r.hash;
  if (!(shape_of(*spec) == r.shape)) return "the shape is not that of " + r.spec;
  if (bucket_of(spec->n, r.queries, r.keys) != r.bucket) return "the call that was timed is not of the bucket " + std::string(name_of(r.bucket));
  return why_unusable(*spec, *target, r.bucket, r.schedule);
}
} // namespace

TEST_CASE("records that are stale, foreign or illegal are told") {
  const operator_description op = small_operator(4, 64);
  const schedule_table table{"avx2", "this-cpu", {}};
  CHECK(complaint(record_of(op, chunk_point(op, 48), 1.25), table, {op}) == "");
  CHECK_THAT(complaint(record_of(op, chunk_point(op, 25), 1.25), table, {op}), Contains("must divide query_tile"));
  CHECK_THAT(complaint(record_of(op, chunk_point(op, 48), 1.25), table, {}), Contains("no stock spec"));
  operator_description changed = op;
  changed.n.softcap = {setting::fixed, 30};
  CHECK_THAT(complaint(record_of(op, chunk_point(op, 48), 1.25), table, {changed}), Contains("has the hash"));
}

TEST_CASE("every shipped record is legal for its spec and target") {
  const std::vector<operator_description> specs = describe_all(recorded_specs{});
  const fs::path folder = fs::path(ATTUNE_SOURCES) / "schedules/tables";
  for (const auto &entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().extension() != ".json") continue;
    const schedule_table table = read_table(entry.path()).value();
    CHECK(table_path(folder, table.target, table.cpu) == entry.path());
    for (const table_record &r : table.records) {
      INFO(entry.path().string() << ", " << r.spec << " for " << name_of(r.bucket));
      CHECK(complaint(r, table, specs) == "");
      CHECK(r.ratio() >= 1);
    }
  }
}

TEST_CASE("shipped schedules are taken for their maker's CPUs and for one that is not known, not for another maker's") {
  const std::vector<operator_description> specs = describe_all(recorded_specs{});
  const fs::path folder = fs::path(ATTUNE_SOURCES) / "schedules/tables";
  for (const std::string &cpu : cpus_with_tables({folder}))
    for (const target_info &target : all_targets) {
      const auto table = read_table(table_path(folder, target.name, cpu));
      if (!table) continue;
      const table_record &r = table->records.front();
      const auto spec = std::find_if(specs.begin(), specs.end(), [&](const operator_description &op) { return op.name == r.spec; });
      REQUIRE(spec != specs.end());
      const auto origin = [&](const std::string &for_cpu) {
        const auto point = look_up({{folder}, for_cpu}, *spec, target, r.bucket, [](const std::string &) {});
        return point ? point->origin : "default";
      };
      const std::string place = std::string("shipped table ") + target.name + "/", maker = cpu.substr(0, cpu.find('-') + 1);
      CHECK(origin(cpu) == place + cpu);
      CHECK_THAT(origin(maker + "unheard-of"), StartsWith(place + maker));
      CHECK_THAT(origin(""), StartsWith(place));
      CHECK(origin("unheard-of") == "default");
    }
}

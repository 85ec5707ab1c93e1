// Tables: written and read back, looked up in their order, passed over where they cannot be used.
#include "generated/emitter.hpp"
#include "generated/files.hpp"
#include "schedules/build.hpp"
#include "tests/codegen/emission/folder.hpp"
#include "tests/tuning/records.hpp"
#include <catch2/catch.hpp>
#include <iostream>
#include <sstream>

using namespace attune;
using Catch::Matchers::Contains;

namespace {
constexpr length_bucket bucket = length_bucket::prefill_long;

/// Folders of tables, one for the user and one shipped, and what was said while looking up.
struct tables {
  own_folder user, shipped;
  std::vector<std::string> said;

  void add(const own_folder &folder, const std::string &cpu, const table_record &r) {
    const auto file = table_path(folder.path, "avx2", cpu);
    schedule_table table = read_table(file).value_or(schedule_table{"avx2", cpu, {}});
    table.put(r);
    write_if_different(file, text_of(table));
  }
  /// Query tile and origin of what is found; "nothing".
  std::string found(const operator_description &op, length_bucket b = bucket, const std::string &cpu = "amd-this") {
    const auto point = look_up({{user.path, shipped.path}, cpu}, op, avx2, b, [&](const std::string &text) { said.push_back(text); });
    return point ? std::to_string(point->at("query_tile")) + " from " + point->origin : "nothing";
  }
};

/// Looked at by the whole process until the end of a test.
struct tables_used_here {
  explicit tables_used_here(table_places places) : before(tables_in_use()) { use_tables(std::move(places)); }
  ~tables_used_here() { use_tables(before); }
  tables_used_here(const tables_used_here &) = delete;
  tables_used_here &operator=(const tables_used_here &) = delete;

private:
  const table_places before;
};

/// The same shape with another number of heads: similar, but another spec.
operator_description similar_to(operator_description op, int heads) {
  op.n.heads = op.n.kv_heads = heads;
  op.name = "similar";
  return op;
}
} // namespace

TEST_CASE("a table that is written is read back as it was") {
  const operator_description op = small_operator(4, 64);
  schedule_table table{"avx2", "amd-this", {}};
  table.put(record_of(op, chunk_point(op, 48), 1.25));
  table.put(record_of(similar_to(op, 8), chunk_point(op, 96), 1.5));
  const schedule_table again = table_from(text_of(table), "the text");
  CHECK(text_of(again) == text_of(table));
  REQUIRE(again.records.size() == 2);
  const table_record &r = again.records.back(); // in the order of names: "similar", "small"
  CHECK(r.spec == "small");
  CHECK(r.hash == spec_hash(op));
  CHECK(r.shape == shape_of(op));
  CHECK(r.schedule.text() == chunk_point(op, 48).text());
  CHECK(r.ratio() == 1.25);
  CHECK(r.mad == 0.001953125);
  CHECK(r.date == "2030-01-31");
}

TEST_CASE("a record takes the place of the one for the same spec and bucket") {
  const operator_description op = small_operator(4, 64);
  schedule_table table{"avx2", "amd-this", {}};
  table.put(record_of(op, chunk_point(op, 48), 1.25));
  table.put(record_of(op, chunk_point(op, 96), 1.5));
  CHECK(table.records.size() == 1);
  table_record of_short = record_of(op, chunk_point(op, 24), 1.5);
  of_short.bucket = length_bucket::prefill_short;
  table.put(of_short);
  CHECK(table.records.size() == 2);
  CHECK(table.records.front().schedule.at("query_tile") == 96);
}

TEST_CASE("what is no table is refused by name") {
  CHECK_THROWS_WITH(table_from("{", "some.json"), Contains("some.json is not a table of schedules"));
  CHECK_THROWS_WITH(table_from(R"({"schema": 7})", "some.json"), Contains("its schema is 7, expected 1"));
  CHECK_THROWS_WITH(table_from(R"({"schema": 1, "target": "avx2", "cpu": "c", "records": [{}]})", "some.json"), Contains("record 0 (counted from 0): key 'spec' not found") && !Contains("json.exception"));
  const std::string strange = R"({"schema": 1, "target": "avx2", "cpu": "c", "records": [{"spec": "s", "hash": "h", "bucket": "train"}]})";
  CHECK_THROWS_WITH(table_from(strange, "some.json"), Contains("record 0 (counted from 0): there is no length bucket \"train\""));
  CHECK(!read_table("no/such/table.json"));
}

TEST_CASE("the spec's own record for the bucket is found, and no other") {
  tables t;
  const operator_description op = small_operator(4, 64);
  CHECK(t.found(op) == "nothing");
  t.add(t.shipped, "amd-this", record_of(op, chunk_point(op, 48), 1.25));
  CHECK(t.found(op) == "48 from table avx2/amd-this");
  CHECK(t.found(op, length_bucket::prefill_short) == "nothing");
  operator_description other = op;
  other.n.causal = causal_alignment::bottom_right;
  CHECK(t.found(other) == "nothing");
  other = op;
  other.mask_functions.push_back([](const position_expr &at, const input_reader &) { return at.key > at.query; });
  CHECK(t.found(other) == "nothing");
  CHECK(t.found(small_operator(4, 32)) == "nothing");
}

TEST_CASE("this CPU's file comes first, then the best ratio among its maker's other CPUs'") {
  tables t;
  const operator_description op = small_operator(4, 64);
  t.add(t.shipped, "amd-a", record_of(op, chunk_point(op, 24), 1.1));
  t.add(t.shipped, "amd-b", record_of(op, chunk_point(op, 72), 1.9));
  t.add(t.shipped, "amd-c", record_of(op, chunk_point(op, 96), 1.5));
  CHECK(t.found(op) == "72 from table avx2/amd-b");
  CHECK(t.found(op, bucket, "amd-a") == "24 from table avx2/amd-a");
  t.add(t.shipped, "amd-this", record_of(similar_to(op, 8), chunk_point(op, 48), 1.01));
  CHECK(t.found(op) == "48 from table avx2/amd-this");
}

TEST_CASE("tables of other makers' CPUs are taken only where the CPU is not known") {
  tables t;
  const operator_description op = small_operator(4, 64);
  t.add(t.user, "amd-a", record_of(op, chunk_point(op, 24), 1.9));
  t.add(t.user, "amd-b", record_of(similar_to(op, 8), chunk_point(op, 72), 1.9));
  t.add(t.user, "amdahl-a", record_of(op, chunk_point(op, 96), 1.95));
  CHECK(t.found(op, bucket, "intel-a") == "nothing");
  CHECK(t.found(op, bucket, "amd") == "24 from table avx2/amd-a"); // a name of one word
  CHECK(t.found(op, bucket, "") == "96 from table avx2/amdahl-a");
  t.add(t.shipped, "intel-b", record_of(op, chunk_point(op, 48), 1.1));
  CHECK(t.found(op, bucket, "intel-a") == "48 from table avx2/intel-b");
  CHECK(t.found(op, bucket, "amd-c") == "24 from table avx2/amd-a");
  CHECK(t.said.empty());
}

TEST_CASE("for a target that is not this machine's, no maker is foreign") {
  tables t;
  const operator_description op = small_operator(4, 64);
  const target_info &neon = *find_target("neon");
  const schedule_point recorded = find_family("chunk").default_point(op, neon);
  write_if_different(table_path(t.user.path, "neon", "arm-implementer-41-part-d0c"), text_of({"neon", "arm-implementer-41-part-d0c", {record_of(op, recorded, 1.2)}}));
  const auto found = [&](const std::string &cpu) {
    const auto point = look_up({{t.user.path}, cpu}, op, neon, bucket, [](const std::string &) {});
    return point ? point->origin : "nothing";
  };
  CHECK(found("amd-zen4") == "table neon/arm-implementer-41-part-d0c");
  CHECK(found("arm-implementer-c0-part-ac3") == "table neon/arm-implementer-41-part-d0c");
}

TEST_CASE("the user's folder comes before the shipped one") {
  tables t;
  const operator_description op = small_operator(4, 64);
  t.add(t.shipped, "amd-this", record_of(op, chunk_point(op, 24), 1.9));
  t.add(t.user, "amd-other", record_of(op, chunk_point(op, 48), 1.1));
  CHECK(t.found(op) == "48 from table avx2/amd-other");
}

TEST_CASE("among similar specs the schedule with the best average ratio is found") {
  tables t;
  const operator_description op = small_operator(4, 64);
  t.add(t.shipped, "amd-this", record_of(similar_to(op, 8), chunk_point(op, 48), 1.3));
  t.add(t.shipped, "amd-this", record_of(similar_to(op, 12), chunk_point(op, 48), 1.3));
  t.add(t.shipped, "amd-this", record_of(similar_to(op, 16), chunk_point(op, 24), 1.5));
  t.add(t.shipped, "amd-this", record_of(similar_to(op, 32), chunk_point(op, 24), 1.0));
  CHECK(t.found(op) == "48 from table avx2/amd-this");
  t.add(t.shipped, "amd-this", record_of(op, chunk_point(op, 96), 1.0));
  CHECK(t.found(op) == "96 from table avx2/amd-this");
}

TEST_CASE("a record that cannot be used any more is passed over, and the next is found") {
  const operator_description op = small_operator(4, 64);
  schedule_point broken = chunk_point(op, 25), unknown = chunk_point(op, 24), renamed = chunk_point(op, 24);
  unknown.family = "flash";
  renamed.parameters.front().first = "rows";
  const std::pair<schedule_point, const char *> cases[] = {
      {broken, "must divide query_tile (25)"}, {unknown, "there is no schedule family \"flash\""}, {renamed, "its parameters are \"chunk rows=24"}};
  for (const auto &[point, reason] : cases) {
    tables t;
    t.add(t.shipped, "amd-this", record_of(op, point, 2));
    CHECK(t.found(op) == "nothing");
    REQUIRE(t.said.size() == 1);
    CHECK_THAT(t.said.front(), Contains("the record of small for prefill_long in table avx2/amd-this is passed over: ") && Contains(reason));
    t.add(t.shipped, "amd-other", record_of(op, chunk_point(op, 48), 1.1));
    CHECK(t.found(op) == "48 from table avx2/amd-other");
  }
}

TEST_CASE("a file that is no table is passed over, and the others are looked at") {
  tables t;
  const operator_description op = small_operator(4, 64);
  write_if_different(table_path(t.shipped.path, "avx2", "amd-this"), "{ half");
  t.add(t.shipped, "amd-other", record_of(op, chunk_point(op, 48), 1.1));
  CHECK(t.found(op) == "48 from table avx2/amd-other");
  REQUIRE(t.said.size() == 1);
  CHECK_THAT(t.said.front(), Contains("amd-this.json is not a table of schedules"));
}

TEST_CASE("the schedule that is chosen comes from the tables in use, or else is the default") {
  tables t;
  const operator_description op = small_operator(4, 64);
  const tables_used_here used({{t.shipped.path}, "amd-this"});
  CHECK(choose_schedule(op, avx2, bucket).origin == "default");
  t.add(t.shipped, "amd-this", record_of(op, chunk_point(op, 48), 1.25));
  const schedule_point chosen = choose_schedule(op, avx2, bucket);
  CHECK(chosen.text() == chunk_point(op, 48).text());
  CHECK(chosen.origin == "table avx2/amd-this");
  CHECK(choose_schedule(op, avx2, length_bucket::prefill_short).origin == "default");
}

TEST_CASE("a default says why it is one, and another spec's schedule whose it is") {
  tables t;
  const operator_description op = small_operator(4, 64);
  const tables_used_here used({{t.user.path, t.shipped.path}, "amd-this"});
  const auto why = [&](length_bucket b = bucket) { return choose_schedule(op, avx2, b).why; };
  CHECK(why() == "there is no table for avx2");
  t.add(t.shipped, "amd-this", record_of(small_operator(4, 32), chunk_point(small_operator(4, 32), 48), 1.25));
  CHECK(why() == "no table has a record of this spec, or of one of its shape, for these lengths");
  t.add(t.user, "amd-other", record_of(op, chunk_point(op, 25), 1.25));
  CHECK(why(length_bucket::prefill_short) == "tables have records of this spec for other lengths alone");
  CHECK_THAT(why(), Contains("its record in table avx2/amd-other cannot be used: ") && Contains("must divide query_tile (25)"));
  t.add(t.shipped, "amd-this", record_of(similar_to(op, 8), chunk_point(op, 48), 1.25));
  CHECK(why() == "of similar, which has the same shape");
  t.add(t.user, "amd-other", record_of(op, chunk_point(op, 48), 1.25));
  CHECK(why() == "");
}

TEST_CASE("a default says that only other makers' tables have the record") {
  tables t;
  const operator_description op = small_operator(4, 64);
  const tables_used_here used({{t.user.path, t.shipped.path}, "intel-a"});
  const auto why = [&](length_bucket b = bucket) { return choose_schedule(op, avx2, b).why; };
  const std::string expected = "no table of this maker's CPUs has a record for these lengths that can be used; another maker's, avx2/amd-a, is not looked at, since this CPU is intel-a";
  t.add(t.shipped, "amd-a", record_of(small_operator(4, 32), chunk_point(small_operator(4, 32), 48), 1.25));
  CHECK(why() == "no table has a record of this spec, or of one of its shape, for these lengths");
  t.add(t.shipped, "amd-a", record_of(similar_to(op, 8), chunk_point(op, 48), 1.25));
  CHECK(why() == expected);
  t.add(t.shipped, "amd-a", record_of(op, chunk_point(op, 48), 1.25));
  CHECK(why() == expected);
  CHECK(why(length_bucket::prefill_short) == "no table has a record of this spec, or of one of its shape, for these lengths");
  t.add(t.user, "intel-b", record_of(op, chunk_point(op, 25), 1.25));
  CHECK_THAT(why(), Contains("its record in table avx2/intel-b cannot be used: "));
  t.add(t.user, "intel-b", record_of(op, chunk_point(op, 48), 1.25));
  CHECK(why() == "");
}

TEST_CASE("a manifest's reasons are those of the tables, also where its object stands") {
  tables t;
  const own_folder out;
  const operator_description op = small_operator(4, 64);
  const tables_used_here used({{t.shipped.path}, "amd-this"});
  const auto emitted = [&] { return emit({op, avx2, "tested", out.path, {}}); };
  const auto why = [&] { return read_manifest(manifest_path(out.path, "small", "avx2"))->kernels.back().schedule.why; };
  CHECK(emitted().outcome == emission::emitted);
  CHECK(why() == "there is no table for avx2");
  t.add(t.shipped, "amd-this", record_of(small_operator(4, 32), chunk_point(small_operator(4, 32), 48), 1.25));
  CHECK(emitted().outcome == emission::unchanged);
  CHECK(why() == "no table has a record of this spec, or of one of its shape, for these lengths");
}

TEST_CASE("what is passed over is said once, however often it is looked up") {
  tables t;
  const operator_description op = small_operator(4, 64);
  t.add(t.shipped, "amd-this", record_of(op, chunk_point(op, 25), 2));
  const tables_used_here used({{t.shipped.path}, "amd-this"});
  std::ostringstream said;
  std::streambuf *const stderr_before = std::cerr.rdbuf(said.rdbuf());
  const std::string first = choose_schedule(op, avx2, bucket).origin, second = choose_schedule(op, avx2, bucket).origin;
  std::cerr.rdbuf(stderr_before);
  CHECK(first == "default");
  CHECK(second == "default");
  CHECK_THAT(said.str(), Contains("attune: the record of small for prefill_long in table avx2/amd-this is passed over"));
  CHECK(said.str().find('\n') == said.str().size() - 1);
}

TEST_CASE("a new record has its own spec emitted again, and no other") {
  tables t;
  const own_folder out;
  const operator_description op = small_operator(4, 64);
  operator_description other = small_operator(2, 32);
  other.name = "other";
  const tables_used_here used({{t.shipped.path}, "amd-this"});
  const auto outcome = [&](const operator_description &spec) { return emit({spec, avx2, "tested", out.path, {}}); };
  CHECK(outcome(op).outcome == emission::emitted);
  CHECK(outcome(other).outcome == emission::emitted);
  t.add(t.shipped, "amd-this", record_of(op, chunk_point(op, 48), 1.25));
  CHECK(outcome(other).outcome == emission::unchanged);
  const emission again = outcome(op);
  CHECK(again.outcome == emission::emitted);
  CHECK(again.record.kernels.back().schedule.origin == "table avx2/amd-this");
  CHECK(outcome(op).outcome == emission::unchanged);
}

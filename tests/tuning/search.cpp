// The search and its log on landscapes that are formulas: nothing is compiled or timed.
#include "generated/files.hpp"
#include "schedules/tuner.hpp"
#include "tests/codegen/emission/folder.hpp"
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>

using namespace attune;
using Catch::Matchers::Contains;

namespace {

/// Two families with four parameters each; `tile` must be a multiple of `part`.
search_space small_space() {
  const std::vector<int> values{1, 2, 3, 4, 6, 8, 12, 16};
  search_space space;
  for (const char *name : {"plain", "folded"})
    space.families.push_back({name, {{"tile", "", values}, {"part", "", values}, {"unroll", "", values}, {"rows", "", values}}, {name, {{"tile", 1}, {"part", 1}, {"unroll", 1}, {"rows", 1}}, "default"}});
  for (const auto &f : space.families) space.starts.push_back(f.default_point);
  space.broken_rule = [](const schedule_point &p) { return p.at("tile") % p.at("part") == 0 ? std::string() : "part must divide tile"; };
  return space;
}
constexpr int legal_points = 2 * 32 * 8 * 8; // 32 of the 64 pairs of tile and part

/// Fastest at plain tile=12 part=6 unroll=4 rows=8, where it is 4 times the default; tile and part only help together.
double ratio_at(const schedule_point &p) {
  const auto off = [&](const char *name, double best) { return std::abs(std::log2(p.at(name) / best)); };
  return 4 * std::exp2(-0.5 * (off("tile", 12) + off("unroll", 4) + off("rows", 8) + std::abs(std::log2(p.at("tile") / 2.0 / p.at("part")))) - (p.family == "folded"));
}

/// Answers from a formula, two points at a time, in the order that they came.
struct formula final : measurer {
  std::function<trial(const schedule_point &)> answer = [](const schedule_point &p) {
    trial t{p};
    t.ratio = ratio_at(p), t.seconds = {1 / t.ratio, 1 / t.ratio}, t.default_median = 1, t.peak = 100;
    return t;
  };
  std::vector<length_bucket> buckets{length_bucket::prefill_long};
  std::deque<schedule_point> under_way;
  std::vector<std::string> started;

  bool has_room() const override { return under_way.size() < 2; }
  bool is_idle() const override { return under_way.empty(); }
  void start(const schedule_point &p) override {
    under_way.push_back(p);
    started.push_back(p.text());
  }
  std::vector<result> results() override {
    std::vector<result> ended;
    for (const length_bucket b : buckets) ended.push_back({b, answer(under_way.front())});
    under_way.pop_front();
    return ended;
  }
};

tuning_key key_of(length_bucket bucket) { return {"small", "0123", "avx2", "this-cpu", bucket, 1, 1024, 1024, 1, "a generator"}; }

struct trial_run {
  own_folder folder;
  std::filesystem::path file = folder.path / "logs" / "small.jsonl";
  formula machine;
  std::vector<bucket_search> searches;

  /// Tunes from what the log holds until `limit` points were tried in this run.
  void go_on(int limit) {
    tuning_log log(file);
    searches.clear();
    for (const length_bucket b : machine.buckets) searches.push_back({key_of(b), schedule_search(small_space())});
    resume(searches, log);
    machine.started.clear();
    machine.under_way.clear();
    int tried = 0;
    tune(searches, machine, log, [&] { return tried >= limit; }, [&](const measurer::result &) { ++tried; });
  }
  const schedule_search &search() const { return searches.front().search; }
};

} // namespace

TEST_CASE("median and median absolute deviation") {
  CHECK(median_of({}) == 0);
  CHECK(median_of({3, 1, 2}) == 2);
  CHECK(median_of({4, 1, 3, 2}) == 2.5);
  CHECK(mad_of({1, 2, 3, 4, 100}) == 1);
}

TEST_CASE("the optimum is found in a small part of the space, over a rule that couples two parameters") {
  for (const unsigned seed : {1u, 2u, 3u}) {
    schedule_search search(small_space(), seed);
    formula machine;
    int tried = 0;
    while (!search.best() || search.best()->ratio < 4) {
      const auto point = search.next();
      REQUIRE(point);
      search.report(machine.answer(*point));
      REQUIRE(++tried < legal_points / 20);
    }
    CHECK(search.best()->point.text() == "plain tile=12 part=6 unroll=4 rows=8");
  }
}

TEST_CASE("starts come first, every proposal is legal and new, and the search ends where there is nothing left") {
  search_space space = small_space();
  for (auto &f : space.families)
    for (auto &p : f.parameters) p.values = {1, 2};
  schedule_search search(space);
  formula machine;
  std::set<std::string> seen;
  while (const auto point = search.next()) {
    if (seen.size() < 2) CHECK(point->text() == space.starts[seen.size()].text());
    CHECK(space.broken_rule(*point) == "");
    CHECK(seen.insert(point->text()).second);
    search.report(machine.answer(*point));
  }
  CHECK(seen.size() == 2 * 3 * 2 * 2);
}

TEST_CASE("an illegal start is not proposed") {
  search_space space = small_space();
  space.starts.insert(space.starts.begin(), {"plain", {{"tile", 3}, {"part", 2}, {"unroll", 1}, {"rows", 1}}, "table"});
  schedule_search search(space);
  CHECK(search.next()->text() == "plain tile=1 part=1 unroll=1 rows=1");
}

TEST_CASE("points that are wrong, crash, hang or do not compile never win") {
  trial_run run;
  const auto right = run.machine.answer;
  run.machine.answer = [&](const schedule_point &p) {
    trial t = right(p);
    const int rows = p.at("rows");
    t.status = rows == 8 ? trial_status::wrong : rows == 6 ? trial_status::crashed : rows == 12 ? trial_status::timeout : rows == 4 ? trial_status::compile_fail : trial_status::ok;
    return t;
  };
  run.go_on(300);
  REQUIRE(run.search().best());
  for (const trial &t : run.search().ranking()) CHECK((t.point.at("rows") < 4 || t.point.at("rows") == 16));
  CHECK(run.search().count(trial_status::wrong) > 0);
  CHECK(run.search().count(trial_status::ok) + run.search().count(trial_status::wrong) + run.search().count(trial_status::crashed) +
            run.search().count(trial_status::timeout) + run.search().count(trial_status::compile_fail) == 300);
}

TEST_CASE("a run goes on from its log and measures nothing twice") {
  trial_run run;
  run.go_on(20);
  const std::vector<std::string> first(run.machine.started.begin(), run.machine.started.begin() + 20);
  const double best = run.search().best()->ratio;
  run.go_on(20);
  CHECK(run.search().ranking().size() == 40);
  CHECK(run.search().best()->ratio >= best);
  for (const std::string &text : run.machine.started) CHECK(std::count(first.begin(), first.end(), text) == 0);
  CHECK(tuning_log(run.file).earlier().size() == 40);
}

TEST_CASE("one point is timed for all buckets") {
  trial_run run;
  run.machine.buckets = {length_bucket::prefill_short, length_bucket::prefill_long};
  run.go_on(20);
  CHECK(run.searches[0].search.ranking().size() == 10);
  CHECK(run.searches[1].search.ranking().size() == 10);
  CHECK(std::set<std::string>(run.machine.started.begin(), run.machine.started.end()).size() == run.machine.started.size());
}

TEST_CASE("trials of another spec, CPU, length or generator are not taken for these") {
  trial_run run;
  run.go_on(5);
  tuning_log log(run.file);
  tuning_key other = key_of(length_bucket::prefill_long);
  for (auto change : {+[](tuning_key &k) { k.hash = "4567"; }, +[](tuning_key &k) { k.cpu = "other"; }, +[](tuning_key &k) { k.keys = 512; }, +[](tuning_key &k) { k.generator = "new"; }}) {
    tuning_key key = other;
    change(key);
    std::vector<bucket_search> searches;
    searches.push_back({key, schedule_search(small_space())});
    CHECK(resume(searches, log) == 0);
    CHECK(!searches.front().search.best());
  }
}

TEST_CASE("a line of the log is read back as it was") {
  log_entry e{key_of(length_bucket::decode_long), {{"plain", {{"tile", 12}, {"part", 6}}, ""}}};
  e.result.status = trial_status::wrong, e.result.why = "output is \"wrong\"\nat [0]", e.result.seconds = {0.25, 0.5}, e.result.ratio = 1.5, e.result.default_median = 0.75;
  const std::string line = line_of(e);
  CHECK(line.find('\n') == std::string::npos);
  const log_entry again = entry_from(line);
  CHECK(again.key == e.key);
  CHECK(again.result.status == trial_status::wrong);
  CHECK(again.result.why == e.result.why);
  CHECK(again.result.seconds == e.result.seconds);
  CHECK(line_of(again) == line);
}

TEST_CASE("a log whose last line was cut off is whole again, and goes on") {
  trial_run run;
  run.go_on(6);
  const std::string whole = text_of(run.file);
  std::ofstream(run.file, std::ios::app) << "not an entry\n" << whole.substr(0, 60);
  tuning_log log(run.file);
  CHECK(log.earlier().size() == 6);
  CHECK(log.skipped() == 2);
  log.append(log.earlier().front());
  const tuning_log again(run.file);
  CHECK(again.earlier().size() == 7);
  CHECK(again.skipped() == 1);
}

TEST_CASE("a log that cannot be written is refused before anything is measured") {
  const own_folder folder;
  std::ofstream(folder.path / "file") << "x";
  CHECK_THROWS_WITH(tuning_log(folder.path / "file" / "log.jsonl"), Contains("the folder ") && Contains("/file cannot be made: Not a directory. Name one that can be written."));
  CHECK_THROWS_WITH(tuning_log(folder.path), Contains("cannot be written"));
}

#include "generated/tool/tuning_job.hpp"
#include "generated/command_line.hpp"
#include "generated/timing/interrupt.hpp"
#include "generated/digest.hpp"
#include "generated/emitter.hpp"
#include "generated/files.hpp"
#include "generated/names.hpp"
#include "generated/tool/table.hpp"
#include "schedules/schedule_tables.hpp"
#include <algorithm>
#include <cmath>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

namespace attune {
namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

namespace {

constexpr double race_share = 0.03; // of the time, for the last comparison of each bucket
constexpr double clear_gain = 0.01; // a schedule that is less than this faster than the default is as fast

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

std::string duration_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.1f} us", seconds * 1e6) : seconds < 1 ? fmt::format("{:.2f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

/// The whole text of the default; of another schedule what it has instead.
std::string short_text(const schedule_point &p, const schedule_point &default_point) {
  if (p.text() == default_point.text() || p.family != default_point.family) return p.text();
  std::string changes;
  for (const auto &[name, value] : p.parameters)
    if (default_point.at(name) != value) changes += fmt::format("{}{}={}", changes.empty() ? "" : " ", name, value);
  return changes;
}

bool is_default(const schedule_point &p, const bucket_search &s) { return p.text() == s.search.space().starts.front().text(); }

/// One line on a terminal that is written over; elsewhere a line for each schedule that is better than all before it, the default among them.
class progress_line {
public:
  explicit progress_line(std::string what) : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) != 0) {}
  ~progress_line() { clear(); }
  void show(const std::vector<bucket_search> &searches, double seconds_left) {
    if (!terminal_) return;
    std::size_t tried = 0, refused = 0;
    std::string best;
    for (const bucket_search &s : searches) {
      tried = std::max(tried, s.search.ranking().size());
      refused = std::max<std::size_t>(refused, static_cast<std::size_t>(s.search.count(trial_status::compile_fail) + s.search.count(trial_status::timeout) +
                                                                        s.search.count(trial_status::wrong) + s.search.count(trial_status::crashed)));
      if (s.search.best())
        best += fmt::format(", {} {}", name_of(s.key.bucket), is_default(s.search.best()->point, s) ? "default" : fmt::format("{:.2f}x", s.search.best()->ratio));
    }
    fmt::print(stderr, "\r\033[K{}: {} tried, {} failed{}; {:.0f} s left", what_, tried, refused, best, std::max(0.0, seconds_left));
    shown_ = true;
  }
  void better(const measurer::result &r) {
    if (!terminal_) fmt::print(stderr, "{}: {} {:.3f}x the default: {}\n", what_, name_of(r.bucket), r.t.ratio, r.t.point.text());
  }
  void clear() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
  }

private:
  std::string what_;
  bool terminal_, shown_ = false;
};

/// One bucket's outcome: the default first, the record that a build would use now, the best few.
struct outcome {
  const bucket_search *search;
  std::vector<trial> compared;
};

class job {
public:
  explicit job(const tuning_order &order)
      : order_(order), spec_(order.spec.describe()), reference_(order.spec.refer()), log_(order.log), measurer_(spec_, reference_, order.target, order.calls, order.threads),
        progress_(fmt::format("{} for {}", order.spec.name, order.target.name)) {
    const fs::path table = table_path(order.tables, order.target.name, order.cpu);
    read_table(table); // what cannot be read now could not be added to at the end, and what cannot be written not be made
    const unfinished_file tried(table);
    for (const tuned_calls &c : order.calls) {
      recorded_.push_back(look_up(spec_, order.target, c.bucket));
      std::vector<schedule_point> more;
      if (recorded_.back() && !order.afresh) more.push_back(*recorded_.back());
      const tuning_key key{spec_.name, spec_hash(spec_), order.target.name, order.cpu, c.bucket, c.batch, c.queries, c.keys, order.threads, generator_digest()};
      searches_.push_back({key, schedule_search(space_of(spec_, order.target, c.bucket, more))});
    }
  }

  tuning_end run() {
    if (order_.once && std::all_of(searches_.begin(), searches_.end(), [&](const bucket_search &s) { return log_.is_finished(s.key); })) return tuning_end::nothing_to_do;
    measurer_.prepare();
    if (!order_.afresh) say_resumed(resume(searches_, log_));
    const double search_time = order_.seconds * (1 - race_share * static_cast<double>(order_.calls.size()));
    for (const bucket_search &s : searches_)
      if (s.search.best()) measurer_.set_best(s.key.bucket, s.search.best()->ratio);
    tune(searches_, measurer_, log_, [&] { return interrupted() || seconds_since(start_) > search_time; }, [&](const measurer::result &r) { take(r, search_time); });
    progress_.clear();
    std::vector<outcome> outcomes;
    for (std::size_t i = 0; i < searches_.size() && !interrupted(); ++i) outcomes.push_back(compare(i));
    if (interrupted()) {
      show_unfinished();
      return tuning_end::interrupted;
    }
    show(outcomes);
    record(outcomes);
    for (const outcome &o : outcomes) // last: whoever finds these lines need not tune again (--once)
      for (const trial &t : o.compared) log_.append({o.search->key, t, true});
    return tuning_end::recorded;
  }

private:
  void say_resumed(int known) const {
    if (log_.skipped() > 0) fmt::print(stderr, "{}: {} of its lines are not whole and are passed over\n", log_.file().string(), log_.skipped());
    if (known > 0) fmt::print(stderr, "{}: goes on from {} trials\n", log_.file().string(), known);
  }

  void take(const measurer::result &r, double search_time) {
    for (const bucket_search &s : searches_) {
      if (s.key.bucket != r.bucket) continue;
      if (is_default(r.t.point, s) && r.t.status != trial_status::ok)
        throw failed_kernel(fmt::format("the default schedule of {} for {} fails ({}): {}", order_.spec.name, name_of(r.bucket), name_of(r.t.status), r.t.why));
      if (s.search.best() && s.search.best()->point.text() == r.t.point.text()) {
        measurer_.set_best(r.bucket, r.t.ratio);
        if (!is_default(r.t.point, s)) progress_.better(r);
      }
    }
    progress_.show(searches_, search_time - seconds_since(start_));
  }

  /// The default, the record in use and the best few, against each other.
  outcome compare(std::size_t i) {
    constexpr std::size_t finalists = 4;
    constexpr double close = 0.97; // of the best, in the few rounds of the search
    const schedule_search &search = searches_[i].search;
    std::vector<schedule_point> points{search.space().starts.front()};
    const auto add = [&](const schedule_point &p) {
      if (std::none_of(points.begin(), points.end(), [&](const schedule_point &q) { return q.text() == p.text(); })) points.push_back(p);
    };
    if (recorded_[i]) add(*recorded_[i]);
    for (std::size_t k = 0; k < std::min(finalists, search.ranking().size()); ++k)
      if (search.ranking()[k].ratio >= close * search.best()->ratio) add(search.ranking()[k].point);
    return {&searches_[i], measurer_.race(searches_[i].key.bucket, points, race_share * order_.seconds)};
  }

  /// The fastest by median. The default is kept where nothing is clearly faster.
  static const trial &winner_of(const outcome &o) {
    const auto fastest = std::min_element(o.compared.begin(), o.compared.end(), [](const trial &a, const trial &b) { return median_of(a.seconds) < median_of(b.seconds); });
    return median_of(fastest->seconds) < (1 - clear_gain) * median_of(o.compared.front().seconds) ? *fastest : o.compared.front();
  }

  void show(const std::vector<outcome> &outcomes) const {
    table rows{{"bucket", "queries x keys", "schedule", "median", "spread", "times the default", ""}};
    for (const outcome &o : outcomes) {
      const tuning_key &key = o.search->key;
      const trial &best = winner_of(o);
      const auto &recorded = recorded_[static_cast<std::size_t>(&o - outcomes.data())];
      for (const trial &t : o.compared) {
        std::vector<std::string> names;
        if (&t == &o.compared.front()) names.push_back("default");
        if (recorded && recorded->text() == t.point.text()) names.push_back(recorded->origin);
        if (&t == &best) names.push_back("best");
        if (names.empty()) continue;
        const double median = median_of(t.seconds);
        rows.push_back({name_of(key.bucket), fmt::format("{} x {}", key.queries, key.keys), short_text(t.point, o.compared.front().point), duration_text(median),
                        fmt::format("{:.1f} %", 100 * mad_of(t.seconds) / median), fmt::format("{:.3f}", t.default_median / median), joined(names, ", ")});
      }
    }
    fmt::print("{} for {} on {}, {} thread{}\n{}", order_.spec.name, order_.target.name, order_.cpu, order_.threads, order_.threads == 1 ? "" : "s", as_columns(rows));
  }

  void show_unfinished() const {
    table rows{{"bucket", "tried", "best so far", "times the default"}};
    for (const bucket_search &s : searches_)
      if (const trial *best = s.search.best())
        rows.push_back({name_of(s.key.bucket), std::to_string(s.search.ranking().size()), short_text(best->point, s.search.space().starts.front()),
                        is_default(best->point, s) ? "the default" : fmt::format("{:.3f}", best->ratio)});
    fmt::print("{} for {}: stopped, nothing is recorded\n{}", order_.spec.name, order_.target.name, as_columns(rows));
    fmt::print("the log {} holds all that was tried; the same command goes on from it\n", log_.file().string());
  }

  void record(const std::vector<outcome> &outcomes) const {
    const fs::path file = table_path(order_.tables, order_.target.name, order_.cpu);
    schedule_table t = read_table(file).value_or(schedule_table{order_.target.name, order_.cpu, {}});
    for (const outcome &o : outcomes) {
      const trial &best = winner_of(o);
      const tuning_key &key = o.search->key;
      table_record r;
      r.spec = key.spec, r.hash = key.hash, r.bucket = key.bucket, r.shape = shape_of(spec_);
      r.batch = key.batch, r.queries = key.queries, r.keys = key.keys, r.threads = key.threads;
      r.schedule = best.point;
      r.median = median_of(best.seconds), r.mad = mad_of(best.seconds), r.samples = static_cast<int>(best.seconds.size());
      r.default_median = best.default_median, r.peak = best.peak;
      r.attune_version = ATTUNE_VERSION, r.halide_version = halide_version(), r.llvm_version = llvm_version();
      r.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
      t.put(std::move(r));
    }
    write_if_different(file, text_of(t));
    fmt::print("recorded in {}; ATTUNE_TABLES={} uses it\n", file.string(), order_.tables.string());
  }

  const tuning_order &order_;
  clock::time_point start_ = clock::now();
  operator_description spec_;
  reference_operator reference_;
  tuning_log log_;
  process_measurer measurer_;
  progress_line progress_;
  std::vector<std::optional<schedule_point>> recorded_; ///< by bucket, as in order_.calls
  std::vector<bucket_search> searches_;
};

} // namespace

tuned_calls usual_calls(length_bucket b) {
  switch (b) {
    case length_bucket::decode_short: return {b, 1, 1, 512};
    case length_bucket::decode_long: return {b, 1, 1, 4096};
    case length_bucket::prefill_short: return {b, 1, 256, 256};
    case length_bucket::prefill_long: return {b, 1, 1024, 1024};
  }
  return {b, 1, 1024, 1024};
}

tuning_end tune_spec(const tuning_order &order) { return job(order).run(); }

} // namespace attune

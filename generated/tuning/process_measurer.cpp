#include "generated/tuning/process_measurer.hpp"
#include "generated/emitter.hpp"
#include "generated/files.hpp"
#include "schedules/schedule_tables.hpp"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <numeric>
#include <sched.h>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace attune {
namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

namespace {
constexpr std::chrono::seconds compile_patience{60};
constexpr double timing_patience = 30; // seconds; and many times what the default schedule took, once that is known

/// One line for each trial. The key carries the bucket only: whoever reads it knows the rest.
void write_answers(const fs::path &file, const std::vector<measurer::result> &all) {
  std::string text;
  for (const measurer::result &r : all) {
    tuning_key key;
    key.bucket = r.bucket;
    text += line_of({key, r.t, false}) + "\n";
  }
  write_if_different(file, text);
}
std::vector<measurer::result> read_answers(const fs::path &file) {
  std::istringstream text(text_of(file));
  std::vector<measurer::result> all;
  for (std::string line; std::getline(text, line);) {
    const log_entry e = entry_from(line);
    all.push_back({e.key.bucket, e.result});
  }
  return all;
}

/// How many times as fast as the first kernel. Of few rounds the fastest call of each is compared, which was disturbed least.
double ratio_of(const std::vector<double> &first, const std::vector<double> &other) {
  return *std::min_element(first.begin(), first.end()) / *std::min_element(other.begin(), other.end());
}
} // namespace

temporary_folder::temporary_folder() {
  std::string name = (fs::temp_directory_path() / "attune_tune_XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error(fmt::format("cannot make a folder like {}; TMPDIR names another place", name));
  path_ = name;
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

process_measurer::process_measurer(const operator_description &spec, const reference_operator &reference, const target_info &target,
                                   const std::vector<tuned_calls> &calls, int threads)
    : spec_(spec), reference_(reference), target_(target), threads_(threads), halide_runtime_(folder_ / "halide_runtime.o"),
      weights_(std::make_shared<check_weights>(spec.n, 1)) {
  const std::vector<int> &cores = usable_cores();
  if (static_cast<int>(cores.size()) < threads) throw std::runtime_error(fmt::format("--threads is {}, but this process may use {} CPUs", threads, cores.size()));
  timing_cores_.assign(cores.begin(), cores.begin() + threads);
  compiling_cores_.assign(cores.begin() + threads, cores.end());
  shares_cores_ = compiling_cores_.empty();
  if (shares_cores_) compiling_cores_ = cores;
  stay_on(compiling_cores_);
  for (const tuned_calls &c : calls) calls_.push_back({c, space_of(spec, target, c.bucket, {}).starts.front(), nullptr});
}

void process_measurer::prepare() {
  const auto make_runtime = [&] { return emit_runtime({&target_}, halide_runtime_), 0; };
  const process_end ended = child_process(make_runtime, folder_ / "runtime.txt", compiling_cores_, compile_patience).wait();
  if (ended.how != process_end::done) throw std::runtime_error(fmt::format("the Halide runtime for {} could not be made: {}", target_.name, ended.what));
  std::vector<schedule_point> defaults;
  for (bucket_calls &c : calls_) {
    const tuned_calls &l = c.lengths;
    c.call = std::make_unique<timed_call>(reference_, l.batch, l.queries, l.keys, l.bucket == length_bucket::decode_long, weights_);
    defaults.push_back(c.default_point);
  }
  compile_all(defaults);
}

process_measurer::job process_measurer::compile(const schedule_point &point, const std::vector<int> &cores) {
  job j{point, folder_ / fmt::format("{}.so", count_++), nullptr};
  if (const auto known = libraries_.find(point.text()); known != libraries_.end()) {
    j.library = known->second;
    return j;
  }
  j.process = std::make_unique<child_process>(
      [this, j_point = point, library = j.library] {
        const sched_param ordinary{};
        sched_setscheduler(0, SCHED_OTHER, &ordinary); // where the tuner runs at real-time priority, only timing needs it
        return compile_trial(spec_, target_, j_point, halide_runtime_, library);
      },
      fs::path(j.library).replace_extension(".compile.txt"), cores, compile_patience);
  return j;
}

void process_measurer::compile_all(const std::vector<schedule_point> &points) {
  std::set<std::string> once;
  for (const schedule_point &p : points) {
    if (!once.insert(p.text()).second) continue;
    const job j = compile(p, usable_cores());
    if (!j.process) continue;
    if (const process_end ended = j.process->wait(); ended.how != process_end::done)
      throw std::runtime_error(fmt::format("schedule \"{}\" could not be compiled: {}", p.text(), ended.what));
    libraries_[p.text()] = j.library;
  }
}

bool process_measurer::has_room() const {
  if (shares_cores_ && timing_) return false;
  return compiling_.size() < compiling_cores_.size() && compiling_.size() + ready_.size() < compiling_cores_.size() + 2;
}

void process_measurer::start(const schedule_point &point) {
  if (calls_of(point).empty()) {
    for (const bucket_calls &c : calls_) refused_.push_back({c.lengths.bucket, {point, trial_status::constraint, why_unusable(spec_, target_, c.lengths.bucket, point)}});
    return;
  }
  job j = compile(point, compiling_cores_);
  if (j.process) compiling_.push_back(std::move(j));
  else ready_.push_back(std::move(j));
}

std::vector<measurer::result> process_measurer::results() {
  std::vector<result> all = std::exchange(refused_, {});
  for (std::size_t i = 0; i < compiling_.size();) {
    const auto ended = compiling_[i].process->poll();
    if (!ended) {
      ++i;
      continue;
    }
    job j = std::move(compiling_[i]);
    compiling_.erase(compiling_.begin() + static_cast<std::ptrdiff_t>(i));
    if (ended->how == process_end::done) {
      libraries_[j.point.text()] = j.library;
      ready_.push_back(std::move(j));
    } else {
      const auto more = failed(j.point, *ended, true);
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  if (timing_)
    if (const auto ended = timing_->process->poll()) {
      const auto more = ended->how == process_end::done ? timed(*timing_) : failed(timing_->point, *ended, false);
      longest_timing_ = std::max(longest_timing_, std::chrono::duration<double>(clock::now() - timing_since_).count());
      timing_.reset();
      for (const result &r : more) highest_probe_ = std::max(highest_probe_, r.t.peak);
      all.insert(all.end(), more.begin(), more.end());
    }
  if (!timing_ && !ready_.empty() && !(shares_cores_ && !compiling_.empty())) start_timing();
  if (all.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return all;
}

void process_measurer::start_timing() {
  timing_ = std::move(ready_.front());
  ready_.pop_front();
  const double patience = timing_patience + (longest_timing_ > 0 ? 5 * longest_timing_ : 300);
  const fs::path answers = fs::path(timing_->library).replace_extension(".answers");
  timing_since_ = clock::now();
  const auto work = [this, answers] { return time_point(*timing_, answers), 0; };
  timing_->process = std::make_unique<child_process>(work, fs::path(answers).replace_extension(".timing.txt"), timing_cores_, std::chrono::duration<double>(patience));
}

std::vector<process_measurer::bucket_calls *> process_measurer::calls_of(const schedule_point &point) {
  std::vector<bucket_calls *> all;
  for (bucket_calls &c : calls_)
    if (why_unusable(spec_, target_, c.lengths.bucket, point).empty()) all.push_back(&c);
  return all;
}

std::vector<measurer::result> process_measurer::failed(const schedule_point &point, const process_end &ended, bool compiling) const {
  std::vector<result> all;
  trial t{point};
  t.status = ended.how == process_end::timeout ? trial_status::timeout : compiling ? trial_status::compile_fail : trial_status::crashed;
  t.why = ended.what;
  for (const bucket_calls &c : calls_)
    if (why_unusable(spec_, target_, c.lengths.bucket, point).empty()) all.push_back({c.lengths.bucket, t});
  return all;
}

std::vector<measurer::result> process_measurer::timed(const job &j) const {
  return read_answers(fs::path(j.library).replace_extension(".answers"));
}

// ---- in the process that times

trial_kernel process_measurer::load(const schedule_point &point) const { return {spec_, target_, point, libraries_.at(point.text())}; }

std::string process_measurer::wrong_answers(const trial_kernel &kernel, const schedule_point &point, length_bucket bucket) {
  constexpr double work = 1e8; // multiply-adds of the reference: 0.1 s
  for (const check_case &how : bucket_cases(spec_.n, point.text(), bucket, work))
    if (const check_result r = check_kernel(kernel.info(), reference_, kernel.target(), how, weights_); !r.passed) return r.text;
  return "";
}

std::string process_measurer::differs_from_default(bucket_calls &c, const trial_kernel &default_kernel, const trial_kernel &kernel) {
  c.call->run(default_kernel, threads_);
  const std::vector<float> right = c.call->answer();
  c.call->run(kernel, threads_);
  const std::vector<float> got = c.call->answer();
  const double allowed = c.call->tolerance(right);
  for (std::size_t i = 0; i < right.size(); ++i)
    if (!(std::abs(got[i] - right[i]) <= allowed) && !(got[i] == right[i]))
      return fmt::format("{} queries, {} keys: element {} of the outputs is {}, the default schedule gives {}, allowed difference {}", c.lengths.queries,
                         c.lengths.keys, i, got[i], right[i], allowed);
  return "";
}

void process_measurer::time_point(const job &j, const fs::path &answers) {
  const trial_kernel kernel = load(j.point);
  const std::vector<bucket_calls *> calls = calls_of(j.point);
  std::vector<result> all;
  for (const bucket_calls *c : calls) all.push_back({c->lengths.bucket, {j.point}});
  std::string wrong;
  for (const bucket_calls *c : calls)
    if (wrong.empty()) wrong = wrong_answers(kernel, j.point, c->lengths.bucket);
  std::map<std::string, std::unique_ptr<trial_kernel>> defaults;
  for (std::size_t i = 0; i < calls.size() && wrong.empty(); ++i) {
    auto &d = defaults[calls[i]->default_point.text()];
    if (!d) d.reset(new trial_kernel(spec_, target_, calls[i]->default_point, libraries_.at(calls[i]->default_point.text())));
    wrong = differs_from_default(*calls[i], *d, kernel);
  }
  probes core({timing_cores_.front()});
  const probe_kind kind = compute_probe(target_.id, spec_.n.element);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    trial &t = all[i].t;
    t.why = wrong;
    t.status = wrong.empty() ? trial_status::ok : trial_status::wrong;
    if (!wrong.empty()) continue;
    timing_plan plan;
    plan.threads = threads_;
    plan.highest = highest_probe_;
    if (const auto best = best_.find(calls[i]->lengths.bucket); best != best_.end()) plan.drop_at = 1.25 / best->second;
    timing times = time_rounds(*calls[i]->call, {defaults[calls[i]->default_point.text()].get(), &kernel}, core, kind, plan);
    t.ratio = ratio_of(times.seconds[0], times.seconds[1]);
    t.default_median = median_of(times.seconds[0]);
    t.seconds = std::move(times.seconds[1]);
    t.peak = times.peak;
  }
  write_answers(answers, all);
}

void process_measurer::time_race(bucket_calls &c, const std::vector<schedule_point> &points, double seconds, const fs::path &answers) {
  std::vector<std::unique_ptr<trial_kernel>> loaded;
  std::vector<const trial_kernel *> kernels;
  std::vector<result> all;
  for (const schedule_point &p : points) {
    loaded.emplace_back(new trial_kernel(spec_, target_, p, libraries_.at(p.text())));
    all.push_back({c.lengths.bucket, {p}});
    trial &t = all.back().t;
    t.why = wrong_answers(*loaded.back(), p, c.lengths.bucket);
    if (t.why.empty()) t.why = differs_from_default(c, *loaded.front(), *loaded.back());
    t.status = t.why.empty() ? trial_status::ok : trial_status::wrong;
    if (t.status == trial_status::ok) kernels.push_back(loaded.back().get());
    else all.pop_back();
  }
  if (all.empty() || all.front().t.point.text() != points.front().text()) throw std::runtime_error("the default schedule's answers are wrong");
  probes core({timing_cores_.front()});
  timing_plan plan{threads_, 5, 41, seconds, highest_probe_, 0};
  const timing times = time_rounds(*c.call, kernels, core, compute_probe(target_.id, spec_.n.element), plan);
  for (std::size_t k = 0; k < all.size(); ++k) {
    trial &t = all[k].t;
    t.seconds = times.seconds[k], t.peak = times.peak;
    t.default_median = median_of(times.seconds[0]);
    t.ratio = t.default_median / median_of(t.seconds);
  }
  write_answers(answers, all);
}

std::vector<trial> process_measurer::race(length_bucket bucket, const std::vector<schedule_point> &points, double seconds) {
  compiling_.clear();
  ready_.clear();
  timing_.reset();
  compile_all(points);
  bucket_calls &c = *std::find_if(calls_.begin(), calls_.end(), [&](const bucket_calls &b) { return b.lengths.bucket == bucket; });
  const fs::path answers = folder_ / fmt::format("race_{}.answers", name_of(bucket));
  const auto work = [&] { return time_race(c, points, seconds, answers), 0; };
  const std::chrono::duration<double> patience(300 + 5 * longest_timing_ + 2 * seconds);
  if (const process_end ended = child_process(work, folder_ / "race.txt", timing_cores_, patience).wait(); ended.how != process_end::done)
    throw std::runtime_error(fmt::format("the last comparison for {} failed: {}", name_of(bucket), ended.what));
  std::vector<trial> all;
  for (const result &r : read_answers(answers)) all.push_back(r.t);
  return all;
}

} // namespace attune

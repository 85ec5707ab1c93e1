#include "bench/rounds.hpp"
#include "generated/timing/interrupt.hpp"
#include "bench/sampling.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/memory.hpp"
#include "runtime/threads.hpp"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fmt/format.h>

namespace attune::bench {
namespace {
using clock = std::chrono::steady_clock;

constexpr double undisturbed = 0.95; ///< a round counts whose probes reach this part of the run's best, and whose call on one thread had this part of its core
constexpr int most_tries = 4;
constexpr int first_probes = 4;      ///< before a row's first round, so that it is judged by more than one
constexpr double far_behind = 3; ///< a peer that takes so many times as long as the fastest of a row
constexpr int rounds_far_behind = 3; ///< is timed in so many rounds only

template <class Work> double seconds_of(const Work &work) {
  const auto start = clock::now();
  work();
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// Seconds that the calling thread has run.
double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// A sample of a call, and what part of its core it had. Probes are shorter than a scheduler's slice: they do not see a process that
/// takes the core now and then. (On two threads a thread also waits for the other: there only probes judge.)
struct own_sample {
  double seconds, core_share;
};
own_sample sample(timed_call &kernel, int threads, int calls) {
  std::vector<double> seconds;
  kernel.touch();
  const double before = thread_seconds();
  const double all = seconds_of([&] {
    for (int i = 0; i < calls; ++i) seconds.push_back(seconds_of([&] { kernel.run(threads); }));
  });
  return {median_of(seconds), threads == 1 ? (thread_seconds() - before) / all : 1};
}

/// The pool's threads stay where they were made: the second thread of every call on the second core.
void place_second_thread(const std::vector<int> &cores) {
  stay_on({cores[1]});
  call_context context;
  context.threads = 2;
  run_tasks(&context, 2, [](void *, int) {}, nullptr);
  stay_on({cores[0]});
}

std::string schedule_of(const work &w) {
  if (w.projection) return "";
  const chosen_variant chosen = choose_variant(w.info(), w.target);
  return chosen.variant ? choose_kernel(*chosen.variant, w.queries, w.keys).schedule : "";
}

/// Drops the peers that are far behind, once enough is known of them.
void keep_near(std::vector<peer_way> &ways) {
  const auto faster = [](const peer_way &a, const peer_way &b) { return a.seconds < b.seconds; };
  const auto fastest = std::min_element(ways.begin(), ways.end(), faster);
  if (fastest == ways.end()) return;
  const double limit = far_behind * fastest->seconds;
  std::erase_if(ways, [limit](const peer_way &way) { return way.seconds > limit; });
}

/// A work's call, and that of the same operator with its numbers in the spec, if it has one.
struct own_calls {
  std::unique_ptr<timed_call> kernel, fixed;

  explicit own_calls(const work &w) : kernel(make_call(w)), fixed(w.fixed ? make_call(*w.fixed) : nullptr) {}
  /// The seconds of the first call. Throws where an output is wrong.
  double first(const work &w, const expected_rows &expected, double &error) {
    const double seconds = seconds_of([&] { kernel->run(w.threads); });
    error = error_in_bounds(kernel->output(), expected, w);
    if (fixed) {
      fixed->run(w.threads);
      error = std::max(error, error_in_bounds(fixed->output(), expected, w));
    }
    if (!(error <= 1)) throw std::runtime_error(fmt::format("{}: our own output is wrong: off by {:.3g}, allowed {:.3g}", w.name, error * expected.bound, expected.bound));
    return seconds;
  }
};

struct round_samples {
  std::map<std::string, double> seconds;
  double core_share = 1; ///< the least of our own samples
};

/// One round of all; a peer that fails now is dropped for good.
round_samples run_round(const work &w, const own_calls &own, int calls, std::vector<peer_way> &ways, std::map<std::string, std::string> &left_out) {
  round_samples r;
  const auto take = [&](const char *name, timed_call &kernel, int threads) {
    const own_sample s = sample(kernel, threads, calls);
    r.seconds[name] = s.seconds;
    r.core_share = std::min(r.core_share, s.core_share);
  };
  take(ours, *own.kernel, w.threads);
  if (w.threads > 1) take(ours_on_one_thread, *own.kernel, 1);
  if (own.fixed) take(ours_fixed, *own.fixed, w.threads);
  for (std::size_t i = 0; i < ways.size();) {
    if (interrupted()) throw interruption();
    try {
      r.seconds[ways[i].name] = median_of(ways[i].process->run(ways[i].way, calls_for(ways[i].seconds)));
      ++i;
    } catch (const peer_error &e) {
      left_out[ways[i].name] = e.what();
      ways.erase(ways.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return r;
}

} // namespace

bench_run::bench_run(const peer_setting &setting) : peers(setting), one_core_({usable_cores().front()}) {
  const std::vector<int> &cores = usable_cores();
  if (cores.size() < 2) return;
  two_cores_ = std::make_unique<probes>(std::vector<int>{cores[0], cores[1]});
  place_second_thread(cores);
}

double bench_run::probe(const work &w) {
  const double got = (w.threads > 1 ? *two_cores_ : one_core_).run(w.probe());
  double &highest = peaks[{w.probe(), w.threads}];
  highest = std::max(highest, got);
  return got;
}

row_result bench_run::measure(const work &w, benchmark::State &state) {
  row_result row{w, {}, {}, {}, schedule_of(w), 0, 0, 0, {}};
  own_calls own(w);
  timed_call &kernel = *own.kernel;
  row.scratch_bytes = kernel.scratch_bytes();
  const expected_rows expected = kernel.reference();
  const double first = own.first(w, expected, row.error);
  std::vector<peer_way> ways = peers.prepare(w, kernel, expected, row.left_out);
  const int calls = w.counts == measure::scratch ? 1 : calls_for(std::min(first, seconds_of([&] { kernel.run(w.threads); })));

  for (int i = 0; i < first_probes; ++i) probe(w);
  double before = probe(w);
  for (auto _ : state) {
    round_samples now;
    double beside = 0;
    for (int tries = 1;; ++tries) {
      if (interrupted()) throw interruption();
      now = run_round(w, own, calls, ways, row.left_out);
      const double after = probe(w), slower = std::min(before, after), highest = peaks.at({w.probe(), w.threads});
      beside = std::max(before, after);
      before = after;
      if (slower >= undisturbed * highest && now.core_share >= undisturbed) break;
      if (tries == most_tries) {
        row.kept_disturbed.push_back(static_cast<int>(row.beside.size()));
        break;
      }
      ++row.disturbed;
    }
    row.beside.push_back(beside);
    for (const auto &[name, s] : now.seconds) row.seconds[name].push_back(s);
    if (row.seconds[ours].size() == rounds_far_behind) keep_near(ways);
    state.SetIterationTime(now.seconds[ours]);
  }
  for (const auto &[name, why] : row.left_out) row.seconds.erase(name); // those that failed after some rounds
  peers.end();
  release_workspace();
  return row;
}

} // namespace attune::bench

// Prefill on one core: 1 x 12 heads x 1024 queries and keys x 64, f32, full and causal, for each x86 target that runs here.
//
// A round is: probe the FMA peak, one call, probe again. A round with a probe 5 % below the highest was disturbed and is run
// again, a few times at most. Kernels are checked against the reference before they are timed. Reported per benchmark:
//   GFLOP/s    useful operations (4 x head_dim per allowed query-key pair and head) over the median round's time
//   peak       the highest probe of the process with this target's vectors, GFLOP/s
//   of_peak    GFLOP/s over peak
//   disturbed  rounds that were run again; many of them: the machine does other work, do not trust the numbers
#include "attune_bench_kernels/prefill_12x64.hpp"
#include "attune_bench_kernels/prefill_12x64_causal.hpp"
#include "bench/fma_peak.hpp"
#include "bench/specs.hpp"
#include "dsl/reference/refer.hpp"
#include "generated/check.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/kernel.hpp"
#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <functional>
#include <map>
#include <random>
#include <sched.h>
#include <string>
#include <vector>

namespace attune::bench {
namespace {
namespace a = attune::axes; // the language has properties of the same names
using clock = std::chrono::steady_clock;

constexpr int length = 1024;
constexpr int rounds = 30;

void fill(float *first, float *last, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::generate(first, last, [&] { return normal(generator); });
}

/// Times calls between probes of the peak of the core that it runs on.
class one_core {
public:
  /// `highest` is the highest probe of the process so far, and is kept up to date.
  one_core(target_id target, double &highest) : target_(target), highest_(highest) { probe(); }
  /// Seconds of one undisturbed call of `work`, or of the last of a few tries.
  template <class Work> double seconds(Work work) {
    for (int tries = 1;; ++tries) {
      const double before = last_;
      const auto start = clock::now();
      work();
      const double spent = std::chrono::duration<double>(clock::now() - start).count();
      probe();
      if (std::min(before, last_) >= 0.95 * highest_ || tries == 4) return spent;
      ++disturbed_;
    }
  }
  int disturbed() const { return disturbed_; }

private:
  void probe() {
    last_ = fma_peak(target_);
    highest_ = std::max(highest_, last_);
  }
  target_id target_;
  double &highest_;
  double last_ = 0;
  int disturbed_ = 0;
};

double useful_flops(const numbers &n) {
  const double pairs = n.causal == causal_alignment::off ? double(length) * length : double(length) * (length + 1) / 2;
  return 2.0 * (n.head_dim + n.value_dim) * pairs * n.heads;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class Spec> void prefill(benchmark::State &state, target_id target, double &highest) {
  const check_result right = check_kernel(artefact<Spec>::info(), refer<Spec>(), target, {1, 130, 130});
  if (!right.passed) return state.SkipWithError(right.text.c_str());

  tensor<float, a::head<12>, a::query<>, a::head_dim<64>> q(length);
  tensor<float, a::kv_head<12>, a::key<>, a::head_dim<64>> k(length);
  tensor<float, a::kv_head<12>, a::key<>, a::value_dim<64>> v(length);
  tensor<float, a::head<12>, a::query<>, a::value_dim<64>> output(length);
  fill(q.begin(), q.end(), 1);
  fill(k.begin(), k.end(), 2);
  fill(v.begin(), v.end(), 3);
  call_options options;
  options.target = target;
  options.threads = 1;
  const auto attend = [&] { kernel<Spec>{}(q, k, v, output, options); };
  attend(); // warm

  one_core core(target, highest);
  std::vector<double> seconds;
  for (auto _ : state) {
    seconds.push_back(core.seconds(attend));
    state.SetIterationTime(seconds.back());
  }
  const double gflops = useful_flops(artefact<Spec>::n) / median(seconds) / 1e9;
  state.counters["GFLOP/s"] = gflops;
  state.counters["peak"] = highest;
  state.counters["of_peak"] = gflops / highest;
  state.counters["disturbed"] = core.disturbed();
  state.SetLabel(choose_kernel(*choose_variant(artefact<Spec>::info(), target).variant, length, length).schedule);
}

template <class Spec> void register_prefill(const std::string &work, std::map<target_id, double> &peaks) {
  for (const target_report &t : targets(artefact<Spec>::info())) {
    if (!t.in_build || !t.runs_here) continue;
    benchmark::RegisterBenchmark((work + "/" + info_of(t.target).name).c_str(), prefill<Spec>, t.target, std::ref(peaks[t.target]))
        ->Iterations(rounds)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
}

/// Keeps the process on the core that it is on: a probe and a call must see the same one.
void stay_on_this_core() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
}

/// "--json FILE" in Google Benchmark's words; everything else goes through unchanged.
std::vector<std::string> translate(int argc, char **argv) {
  std::vector<std::string> words(argv, argv + argc);
  const auto json = std::find(words.begin(), words.end(), "--json");
  if (json == words.end() || json + 1 == words.end()) return words;
  json[1] = "--benchmark_out=" + json[1];
  json[0] = "--benchmark_out_format=json";
  return words;
}

} // namespace
} // namespace attune::bench

int main(int argc, char **argv) {
  using namespace attune::bench;
  stay_on_this_core();
  std::vector<std::string> words = translate(argc, argv);
  std::vector<char *> pointers;
  for (std::string &word : words) pointers.push_back(word.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 1;
  std::map<attune::target_id, double> peaks;
  register_prefill<prefill_12x64>("prefill_f32_12x64_1024", peaks);
  register_prefill<prefill_12x64_causal>("prefill_f32_12x64_1024_causal", peaks);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}

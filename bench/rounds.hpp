// Measures one row: rounds of probe, our kernel, each peer in turn, probe. What they share is the minute that they ran in.
#pragma once
#include "bench/peers.hpp"
#include <benchmark/benchmark.h>
#include <map>
#include <utility>

namespace attune::bench {

/// The highest probe of the run so far, for each kind and number of cores.
using peak_table = std::map<std::pair<probe_kind, int>, double>;

struct row_result {
  work what;
  std::map<std::string, std::vector<double>> seconds; ///< of one call, a sample per round: by name: ours (below) and peers
  std::vector<double> beside;                         ///< of each round: the better of the probes before and after it
  std::map<std::string, std::string> left_out;        ///< peers that are not in the row, and why
  std::string schedule;                               ///< family and parameters of our kernel
  std::size_t scratch_bytes = 0;
  double error = 0;                                   ///< of our output, in units of its bound
  int disturbed = 0;                                  ///< rounds that were run again
  std::vector<int> kept_disturbed;                    ///< rounds, counted from 0, that were disturbed at the last try too, and count all the same
};
inline constexpr const char *ours = "attune", *ours_on_one_thread = "attune, one thread", *ours_fixed = "attune, numbers in the spec";
inline bool is_ours(const std::string &name) { return name == ours || name == ours_on_one_thread || name == ours_fixed; }

/// Thrown when Ctrl-C came before a row was complete.
struct interruption : std::runtime_error {
  interruption() : std::runtime_error("interrupted") {}
};

class bench_run {
public:
  explicit bench_run(const peer_setting &);

  /// Runs as many rounds as `state` has iterations; each iteration's time is our kernel's. Throws interruption, or
  /// std::runtime_error when our own kernel fails or is wrong.
  row_result measure(const work &, benchmark::State &state);

  peak_table peaks;
  peer_list peers;

private:
  double probe(const work &); ///< GFLOP/s or GB/s

  probes one_core_;
  std::unique_ptr<probes> two_cores_; ///< null where the process may use one CPU only
};

} // namespace attune::bench

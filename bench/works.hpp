// The rows of the comparison: what is called, how it is counted, and against which probe.
#pragma once
#include "generated/timing/probes.hpp"
#include "dsl/reference/reference_operator.hpp"
#include "runtime/artefact.hpp"
#include <memory>
#include <string>
#include <vector>

namespace attune::bench {

enum class measure {
  operations,     ///< useful GFLOP/s: masked query-key pairs do not count
  bytes,          ///< GB/s of K and V, each read once
  time_per_query, ///< ns; of_peak is of useful operations
  scratch,        ///< bytes that one call holds at most, for each of its threads; not timed
};
constexpr const char *unit_of(measure m) {
  constexpr const char *units[] = {"GFLOP/s", "GB/s", "ns/query", "bytes/thread"};
  return units[static_cast<int>(m)];
}

struct work {
  std::string name;           ///< unique: family/element/target/shape/length[/t2]
  const artefact_info &(*info)() = nullptr;
  reference_operator (*refer)() = nullptr;
  generated_function projection = nullptr; ///< called instead of the spec's kernel: its output projection alone
  target_id target{};
  measure counts = measure::operations;
  int threads = 1;
  int batch = 1, queries = 1, keys = 1;
  std::vector<double> call_numbers; ///< those that the spec leaves to the call, in its order
  std::shared_ptr<const work> fixed; ///< the same operator with these numbers in its spec; called in the same rounds
  bool cold = false;          ///< counts bytes, and finds K and V in no cache
  bool compared = false;      ///< other implementations run beside ours

  probe_kind probe() const;
  /// Useful operations of one call: two for each multiply-add of an allowed query-key pair or a projection.
  double operations() const;
  /// What `counts` counts, of one call: operations(), or bytes of K and V.
  double amount() const;
  /// Of K and V, which calls use in turn so that none finds them in a cache; 1 unless the work is cold.
  std::size_t copies() const;
  /// Bytes that a call reads and writes if it touches each tensor once.
  double least_bytes() const;
  /// Why this machine or build cannot run it, in one sentence; empty if it can.
  std::string why_not() const;
};

/// All rows, in the order in which they are reported.
std::vector<work> all_works();

/// Those of them with caches and rotary embedding: cache_works.cpp.
std::vector<work> cache_works();

} // namespace attune::bench

// The most that this machine can do, measured: yardsticks of every benchmark, for x86. A probe runs on the cores that it is
// given, one pinned thread on each, all at once; what other threads do on these cores shows as a lower figure.
#pragma once
#include "dsl/targets.hpp"
#include "dsl/vocabulary.hpp"
#include <cstddef>
#include <memory>
#include <vector>

namespace attune {

enum class probe_kind {
  fma_256,     ///< f32 fused multiply-adds on registers of 256 bits, GFLOP/s
  fma_512,     ///< the same on registers of 512 bits
  dot_bf16,    ///< vdpbf16ps on registers of 512 bits: 4 operations a lane, GFLOP/s
  tile_bf16,   ///< tdpbf16ps on tile registers: 16 x 16 x 16 pairs an instruction, GFLOP/s
  memory_read, ///< two streams, together cold_bytes(), GB/s (10^9 bytes)
};
constexpr const char *name_of(probe_kind k) {
  constexpr const char *names[] = {"fma_256", "fma_512", "dot_bf16", "tile_bf16", "memory_read"};
  return names[static_cast<int>(k)];
}
constexpr const char *unit_of(probe_kind k) { return k == probe_kind::memory_read ? "GB/s" : "GFLOP/s"; }

/// So many bytes that none is in a cache any more when it is read again: twice the last-level cache, at least 256 MiB. At most a
/// sixteenth of the machine's memory, where that is more than 256 MiB.
std::size_t cold_bytes();

/// The probe that bounds a kernel with this target's instructions and elements. Throws std::invalid_argument for a target
/// that is not x86.
probe_kind compute_probe(target_id, element_type);
/// Whether this machine has the instructions.
bool has_probe(probe_kind);

/// The CPUs that the process may use, lowest number first, as they were when first asked for.
const std::vector<int> &usable_cores();
/// Keeps the calling thread on these cores, and threads that it starts from here on.
void stay_on(const std::vector<int> &cores);

/// Probes on some cores. Holds the threads and, from the first memory probe on, cold_bytes() a core.
class probes {
public:
  /// `cores` is not empty. The calling thread takes part: it stays on the first core from here on.
  explicit probes(std::vector<int> cores);
  ~probes();
  probes(const probes &) = delete;
  probes &operator=(const probes &) = delete;

  /// One short run: the sum over the cores. 1 to 2 ms for compute, 20 to 40 for memory where cold_bytes() is 256 MiB. 0 where the
  /// machine lacks the instructions.
  double run(probe_kind);

private:
  struct team;
  std::unique_ptr<team> team_;
};

} // namespace attune

// The most that one core can do: fused multiply-adds on registers alone, the yardstick of every compute-bound kernel.
#pragma once
#include "dsl/targets.hpp"

namespace attune::bench {

/// f32 GFLOP/s of one short run (1 to 2 ms) on this core, with the vectors that `target` uses; 0 for a target without a probe.
double fma_peak(target_id target);

} // namespace attune::bench

// What a run was made on and with.
#pragma once
#include "bench/rounds.hpp"

namespace attune::bench {

/// The 1, 5 and 15 minute load averages.
std::vector<double> load_now();

/// CPU, cores, memory, versions, peaks, peers, load before and after.
nlohmann::ordered_json describe_machine(const bench_run &, const std::vector<double> &load_before);

} // namespace attune::bench

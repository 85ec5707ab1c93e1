// The specs that a shipped table may have records of: the stock specs, and those of the benchmarks.
#pragma once
#include "bench/specs.hpp"
#include "dsl/pipeline/describe.hpp"
#include "dsl/reference/refer.hpp"
#include "generated/stock/catalogue.hpp"

namespace attune {

using recorded_specs = decltype(stock::catalogue{} + bench::tuned{});

} // namespace attune

// The rows of a run as numbers: JSON for other programs, a table for people.
#pragma once
#include "bench/rounds.hpp"

namespace attune::bench {

/// A row in the form that docs/benchmarks.md describes. Ratios are to the highest probe of the whole run.
nlohmann::ordered_json as_json(const row_result &, const peak_table &);
/// One line per row; then the peers that were left out, with the reason.
std::string as_text(const std::vector<row_result> &, const peak_table &);

} // namespace attune::bench

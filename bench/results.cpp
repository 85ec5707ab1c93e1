#include "bench/results.hpp"
#include "bench/sampling.hpp"
#include "generated/tool/table.hpp"
#include <algorithm>
#include <fmt/format.h>

namespace attune::bench {
namespace {

double peak_of(const row_result &row, const peak_table &peaks) { return peaks.at({row.what.probe(), row.what.threads}); }
bool is_timed(const row_result &row) { return row.what.counts != measure::scratch; }

/// GFLOP/s or GB/s of one of the row's samples.
double rate_of(const row_result &row, const std::string &name) { return row.what.amount() / median_of(row.seconds.at(name)) / 1e9; }

double value_of(const row_result &row) {
  switch (row.what.counts) {
    case measure::operations: case measure::bytes: return rate_of(row, ours);
    case measure::time_per_query: return median_of(row.seconds.at(ours)) * 1e9 / row.what.queries;
    case measure::scratch: return double(row.scratch_bytes) / row.what.threads;
  }
  return 0;
}

/// Of the peak, by peer.
std::map<std::string, double> peers_of(const row_result &row, const peak_table &peaks) {
  std::map<std::string, double> all;
  for (const auto &[name, samples] : row.seconds)
    if (!is_ours(name)) all[name] = rate_of(row, name) / peak_of(row, peaks);
  return all;
}

/// Our rate over the probe in the same minute: where the highest probe is of a time when the machine could do more, this
/// tells a slow kernel from a slow machine.
double of_probe_beside(const row_result &row) {
  const std::vector<double> &seconds = row.seconds.at(ours);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < seconds.size(); ++i) ratios.push_back(row.what.amount() / seconds[i] / 1e9 / row.beside[i]);
  return median_of(ratios);
}

double speed_up_of(const row_result &row) { return median_of(row.seconds.at(ours_on_one_thread)) / median_of(row.seconds.at(ours)); }

/// Our time over that of the same operator with its numbers in the spec, round by round.
double over_fixed_of(const row_result &row) {
  const std::vector<double> &here = row.seconds.at(ours), &fixed = row.seconds.at(ours_fixed);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < here.size(); ++i) ratios.push_back(here[i] / fixed[i]);
  return median_of(ratios);
}

constexpr double wide_spread = 0.1;

/// Whether something else used the machine: figures of such a row say little.
bool is_disturbed(const row_result &row) {
  return is_timed(row) && (!row.kept_disturbed.empty() || spread(row.seconds.at(ours)) > wide_spread);
}

/// "1.2 %, 3 again, 1 disturbed"
std::string spread_text(const row_result &row) {
  std::string text = fmt::format("{:.1f} %", 100 * spread(row.seconds.at(ours)));
  if (row.disturbed) text += fmt::format(", {} again", row.disturbed);
  if (!row.kept_disturbed.empty()) text += fmt::format(", {} disturbed", row.kept_disturbed.size());
  return text;
}

std::string bytes_text(std::size_t bytes) {
  return bytes < (1 << 20) ? fmt::format("{:.0f} KiB", static_cast<double>(bytes) / 1024) : fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::vector<std::string> cells_of(const row_result &row, const peak_table &peaks) {
  const double number = value_of(row);
  const std::string value = fmt::format("{} {}", number < 1e4 ? fmt::format("{:.4g}", number) : fmt::format("{:.0f}", number), unit_of(row.what.counts));
  const std::string scratch = bytes_text(row.scratch_bytes);
  if (!is_timed(row)) return {row.what.name, value, "", "", "", "", "", scratch};
  const auto peers = peers_of(row, peaks);
  const auto best = std::max_element(peers.begin(), peers.end(), [](const auto &a, const auto &b) { return a.second < b.second; });
  return {row.what.name,
          value,
          fmt::format("{:.3f}", rate_of(row, ours) / peak_of(row, peaks)),
          fmt::format("{:.3f}", of_probe_beside(row)),
          best == peers.end() ? "–" : fmt::format("{:.3f} {}", best->second, best->first),
          row.seconds.count(ours_on_one_thread) ? fmt::format("{:.2f}", speed_up_of(row)) : "",
          spread_text(row),
          scratch};
}
} // namespace

nlohmann::ordered_json as_json(const row_result &row, const peak_table &peaks) {
  nlohmann::ordered_json j = {{"work", row.what.name}, {"target", info_of(row.what.target).name}, {"threads", row.what.threads},
                              {"value", value_of(row)}, {"unit", unit_of(row.what.counts)}, {"of_peak", nullptr}, {"of_probe_beside", nullptr}, {"peers", nlohmann::ordered_json::object()},
                              {"spread", nullptr}, {"scratch_bytes", row.scratch_bytes}, {"error_in_bounds", row.error}, {"schedule", row.schedule}};
  j["left_out"] = row.left_out;
  if (!is_timed(row)) return j;
  j["of_peak"] = rate_of(row, ours) / peak_of(row, peaks);
  j["of_probe_beside"] = of_probe_beside(row);
  j["peers"] = peers_of(row, peaks);
  j["spread"] = spread(row.seconds.at(ours));
  if (row.seconds.count(ours_on_one_thread)) j["speed_up"] = speed_up_of(row);
  if (row.seconds.count(ours_fixed)) j["over_fixed"] = over_fixed_of(row);
  j["probe"] = name_of(row.what.probe());
  j["peak"] = peak_of(row, peaks);
  j["operations"] = row.what.operations();
  j["bytes_at_least"] = row.what.least_bytes();
  j["rounds"] = row.seconds.at(ours).size();
  j["disturbed"] = row.disturbed;
  j["kept_disturbed"] = row.kept_disturbed;
  j["probe_beside"] = row.beside;
  j["seconds"] = row.seconds;
  return j;
}

std::string as_text(const std::vector<row_result> &rows, const peak_table &peaks) {
  table cells{{"work", "value", "of peak", "of probe beside", "best peer, of peak", "speed-up", "spread", "scratch"}};
  std::map<std::string, std::vector<std::string>> without; // by peer and reason: the works
  for (const row_result &row : rows) {
    cells.push_back(cells_of(row, peaks));
    for (const auto &[name, why] : row.left_out) without[fmt::format("without {}: {}", name, why)].push_back(row.what.name);
  }
  std::string notes;
  for (const row_result &row : rows)
    if (row.seconds.count(ours_fixed)) notes += fmt::format("{} takes {:.4f} of the time of the same operator with its numbers in the spec\n", row.what.name, over_fixed_of(row));
  const auto disturbed = std::count_if(rows.begin(), rows.end(), is_disturbed);
  if (disturbed > 0)
    notes += fmt::format("{} of {} rows were disturbed (a round that stayed so, or a spread above {:.0f} %): let nothing else run, and take them again\n", disturbed, rows.size(), 100 * wide_spread);
  for (const auto &[what, works] : without)
    notes += fmt::format("{} ({})\n", what, works.size() > 2 ? fmt::format("{} works", works.size()) : joined(works, ", "));
  return as_columns(cells) + (notes.empty() ? "" : "\n" + notes);
}

} // namespace attune::bench

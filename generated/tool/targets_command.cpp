// attune targets: which targets the library has, which of them this machine runs, and why not.
#include "dsl/targets.hpp"
#include "generated/tool/catalogue.hpp"
#include "generated/tool/commands.hpp"
#include "generated/tool/table.hpp"
#include "runtime/dispatch.hpp"
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace attune {
namespace {

bool is_foreign(const target_report &r) {
  const std::vector<std::string> &all = foreign_targets();
  return std::find(all.begin(), all.end(), info_of(r.target).name) != all.end();
}

/// Of another machine's CPU a program holds no kernels: those of the library are in an object for programs over there.
std::string library_text(const target_report &r) {
  if (r.in_build) return "yes";
  if (!is_foreign(r)) return "no";
  return info_of(r.target).host == architecture::aarch64 ? "for AArch64 programs" : "for x86-64 programs";
}

void print_columns(const std::vector<target_report> &reports) {
  table rows{{"target", "in the library", "runs here", "why not"}};
  for (const target_report &r : reports)
    rows.push_back({info_of(r.target).name, library_text(r), r.runs_here ? "yes" : "no", r.why_not});
  fmt::print("{}", as_columns(rows));
}

void print_json(const std::vector<target_report> &reports) {
  auto all = nlohmann::ordered_json::array();
  for (const target_report &r : reports)
    all.push_back({{"name", info_of(r.target).name}, {"halide_target", info_of(r.target).halide_target}, {"needs", info_of(r.target).needs},
                   {"in_build", r.in_build}, {"in_library", r.in_build || is_foreign(r)}, {"runs_here", r.runs_here}, {"why_not", r.why_not}});
  fmt::print("{}\n", all.dump(2));
}
} // namespace

void add_targets_command(CLI::App &app) {
  CLI::App *command = app.add_subcommand("targets", "the targets: in the library, runs here, why not");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "with all details, as JSON");
  command->callback([json] {
    const auto reports = machine_targets();
    if (*json) print_json(reports);
    else print_columns(reports);
  });
}

} // namespace attune

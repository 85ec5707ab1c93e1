// attune check: the kernels of one spec in this build against the double-precision reference.
#include "generated/check.hpp"
#include "generated/command_line.hpp"
#include "generated/tool/catalogue.hpp"
#include "generated/tool/commands.hpp"
#include "runtime/dispatch.hpp"
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace attune {
namespace {

struct request {
  std::string spec;
  std::vector<std::string> targets;
  double work = 2e8;
};

/// The targets of the build that this machine runs; those that were asked for and cannot run are an error.
std::vector<const artefact_variant *> variants_to_check(const artefact_info &info, const std::vector<std::string> &asked) {
  std::vector<const artefact_variant *> variants;
  for (const target_report &report : targets(info)) {
    const std::string name = info_of(report.target).name;
    const bool wanted = std::find(asked.begin(), asked.end(), name) != asked.end();
    if (wanted && !report.in_build) throw std::runtime_error(fmt::format("{} is not in this build for target {}", info.spec, name));
    if (wanted && !report.runs_here) throw std::runtime_error(fmt::format("target {} cannot be checked here: {}", name, report.why_not));
    if (!report.in_build || !report.runs_here || (!asked.empty() && !wanted)) continue;
    variants.push_back(std::find_if(info.variants, info.variants + info.variant_count, [&](const auto &v) { return v.target == report.target; }));
  }
  if (variants.empty()) throw std::runtime_error(fmt::format("no target of {} in this build runs on this machine; the subcommand targets says why", info.spec));
  return variants;
}

/// Cases that disagree, and kernels that no case ran.
int failures_of(const tool_spec &spec, const artefact_variant &variant, double work) {
  const reference_operator op = spec.refer();
  const std::vector<check_case> cases = standard_cases(op.n, variant, work);
  int failures = 0;
  for (const check_case &how : cases) {
    const check_result result = check_kernel(spec.info(), op, variant.target, how);
    if (result.passed) continue;
    ++failures;
    fmt::print("{}\n", result.text);
  }
  fmt::print("{} for {}: {} of {} cases agree with the reference\n", spec.name, info_of(variant.target).name, static_cast<int>(cases.size()) - failures, cases.size());
  const std::vector<int> counts = cases_by_kernel(variant, cases);
  const auto empty = static_cast<int>(cases.size()) - std::accumulate(counts.begin(), counts.end(), 0);
  for (int i = 0; i < variant.kernel_count; ++i) {
    const int count = counts[static_cast<std::size_t>(i)];
    if (variant.kernel_count > 1) fmt::print("  {} cases ran {}\n", count, variant.kernels[i].schedule);
    if (count > 0) continue;
    ++failures;
    fmt::print("  a kernel that no case ran is not checked: allow the reference more than --work {:g}\n", work);
  }
  if (empty > 0) fmt::print("  {} cases have no queries or no keys, and need no kernel\n", empty);
  return failures;
}

void run(const request &r) {
  if (!(r.work > 0)) throw std::runtime_error(fmt::format("--work is {}, expected a number above 0: with less there is no case to check", r.work));
  const tool_spec &spec = find_spec(r.spec);
  int failures = 0;
  for (const artefact_variant *v : variants_to_check(spec.info(), r.targets)) failures += failures_of(spec, *v, r.work);
  if (failures > 0) throw CLI::RuntimeError(exit_status::failed);
}
} // namespace

void add_check_command(CLI::App &app) {
  const auto r = std::make_shared<request>();
  CLI::App *command = app.add_subcommand("check", "runs the kernels of one spec in this build and compares with the double reference");
  std::vector<std::string> names;
  for (const target_info &t : all_targets) names.push_back(t.name);
  command->add_option("SPEC", r->spec, "one of the specs, as the subcommand specs lists them")->required();
  command->add_option("--target,-t", r->targets, "targets; all that run here if not given")->check(CLI::IsMember(names));
  command->add_option("--work", r->work, "multiply-adds that the reference may spend")->capture_default_str();
  command->callback([r] { run(*r); });
}

} // namespace attune

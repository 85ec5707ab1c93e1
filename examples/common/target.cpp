#include "target.hpp"
#include <fmt/format.h>

namespace examples {

attune::target_id choose_target(const attune::artefact_info &info, const std::string &name) {
  if (name.empty()) {
    const attune::chosen_variant chosen = attune::choose_variant(info, std::nullopt);
    if (!chosen.variant) throw unavailable(chosen.why.message());
    return chosen.variant->target;
  }
  std::string known;
  for (const attune::target_report &report : attune::targets(info)) {
    const char *candidate = attune::info_of(report.target).name;
    if (report.in_build) known += (known.empty() ? "" : ", ") + std::string(candidate);
    if (name != candidate || !report.in_build) continue;
    if (!report.runs_here) throw unavailable(fmt::format("target {} cannot run here: {}", name, report.why_not));
    return report.target;
  }
  throw std::runtime_error(fmt::format("this build has no code of {} for a target '{}'; it has {}", info.spec, name, known));
}

} // namespace examples

// Which targets a build has, which of them this machine runs and why not, and which one a call takes. C++17.
//
// A call takes, in this order: call_options::target; the target set with set_default_target; the one that the environment
// variable ATTUNE_TARGET names (read once); the best CPU target of the build that this machine runs. GPU targets are never
// taken unless named.
//
// Of a target's kernels, each with a schedule of its own, a call takes the one for its numbers of queries and keys.
#pragma once
#include "runtime/artefact.hpp"
#include "runtime/status.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attune {

struct target_report {
  target_id target;
  bool in_build = false;  ///< the artefact (or any artefact of the program) has a variant for it
  bool runs_here = false; ///< this machine has what it needs
  std::string why_not;    ///< if not: one sentence that names what is missing
};

/// Every target of the table, for one artefact.
std::vector<target_report> targets(const artefact_info &);
/// Every target of the table, for all the libraries that this program has registered.
std::vector<target_report> machine_targets();

/// The process's default from here on; empty: back to ATTUNE_TARGET or the best one. Whether a kernel has it is checked at the call.
void set_default_target(std::optional<target_id>) noexcept;

/// The variant that a call would run.
struct chosen_variant {
  const artefact_variant *variant = nullptr; ///< null when `why` is an error
  status why;
};
chosen_variant choose_variant(const artefact_info &, std::optional<target_id> forced) noexcept;

/// The kernel that a call with so many queries and keys, of one batch element, runs.
const artefact_kernel &choose_kernel(const artefact_variant &, std::int64_t queries, std::int64_t keys) noexcept;

} // namespace attune

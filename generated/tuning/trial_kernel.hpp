// A kernel that is compiled for a trial of its schedule, and loaded into the process that times it.
#pragma once
#include "dsl/pipeline/operator_description.hpp"
#include "dsl/targets.hpp"
#include "runtime/artefact.hpp"
#include "schedules/schedule_point.hpp"
#include <filesystem>
#include <string>

namespace attune {

/// Compiles a schedule and becomes the linker that makes it a shared library with a Halide runtime and Attune's hooks of its own;
/// so it only returns, with an exit status, where that fails. `halide_runtime`: of emit_runtime, for the target.
int compile_trial(const operator_description &, const target_info &, const schedule_point &, const std::filesystem::path &halide_runtime,
                  const std::filesystem::path &library);

/// A loaded library of compile_trial as an artefact with one variant, whose kernel takes calls of every length.
class trial_kernel {
public:
  /// Throws std::runtime_error if it cannot be loaded.
  trial_kernel(const operator_description &, const target_info &, const schedule_point &, const std::filesystem::path &library);
  trial_kernel(const trial_kernel &) = delete;
  const artefact_info &info() const { return info_; }
  target_id target() const { return variant_.target; }

private:
  std::string name_, hash_, schedule_;
  artefact_kernel kernel_;
  artefact_variant variant_;
  artefact_info info_;
};

} // namespace attune

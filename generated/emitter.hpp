// The emitter: one spec, one target -> one object file and its manifest.
#pragma once
#include "dsl/pipeline/operator_description.hpp"
#include "dsl/targets.hpp"
#include "generated/manifest.hpp"
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace attune {

/// An emission that failed, Halide's warnings included. Nothing of it is left behind.
struct emission_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct emission_order {
  const operator_description &spec;
  const target_info &target;
  std::string library;                  ///< part of the names of the generated functions
  std::filesystem::path directory;      ///< for <stem>.<target>.o and <stem>.<target>.json; made if needed
  std::map<length_bucket, schedule_point> pinned; ///< used instead of the schedules that would be chosen for these buckets
  bool assembly = false;                ///< <stem>.<target>.s as well
  bool loop_nest = false;               ///< <stem>.<target>.stmt as well: the lowered loop nest
};

/// One schedule for calls of every length.
std::map<length_bucket, schedule_point> pinned_everywhere(const numbers &, const schedule_point &);

struct emission {
  enum outcome_type { emitted, unchanged, refused } outcome;
  manifest record;
};

/// Emits what is not there yet: if the manifest that stands in the folder tells of the same spec text, target, schedules,
/// names, versions and generator, and its object is there, nothing is touched.
emission emit(const emission_order &);

/// Where the manifest of a spec and target lies.
std::filesystem::path manifest_path(const std::filesystem::path &directory, const std::string &spec, const std::string &target);

/// One kernel in one schedule, and the packing of its weights if it has any, as an object alone: for trials of schedules. Its
/// functions bear these names, whatever the spec.
inline constexpr const char *trial_function = "attune_trial_argv", *trial_pack_function = "attune_trial_pack_argv";
void emit_trial(const operator_description &, const target_info &, const schedule_point &, const std::filesystem::path &object);

/// Of the libraries that generate code.
std::string halide_version();
std::string llvm_version();

/// The Halide runtime that generated functions of these targets call, as one object file. All targets must have the same
/// host architecture. The file is not touched if it would not change.
void emit_runtime(const std::vector<const target_info *> &targets, const std::filesystem::path &object);

} // namespace attune

// What an emission leaves beside its object: from what, for what, how, how long, how big, with which versions.
#pragma once
#include "dsl/call_lengths.hpp"
#include "schedules/schedule_point.hpp"
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attune {

/// One function of an object: the length buckets whose calls it takes (those of a spec whose schedules are equal share one),
/// its symbol, its schedule.
struct emitted_kernel {
  std::vector<length_bucket> buckets;
  std::string run;             ///< in Halide's argv form
  schedule_point schedule;
};

struct manifest {
  static constexpr int schema = 2;

  std::string spec;            ///< name of the spec struct, with its namespaces
  std::string canonical_text;
  std::string hash;            ///< of the canonical text
  std::string target;          ///< our name
  std::string halide_target;   ///< exact
  std::string refused;         ///< why this target cannot carry this spec; then all below are empty
  std::vector<emitted_kernel> kernels; ///< in the order of their first buckets; together they have each of the spec's once
  int panel_lanes = 0;         ///< 0 for specs without projections
  std::string pack;            ///< symbol of the packing, in Halide's argv form; empty without projections
  std::string object;          ///< file name, in the manifest's folder
  std::uintmax_t bytes = 0;    ///< of the object
  double compile_seconds = 0;  ///< lowering and code generation
  std::string fingerprint;     ///< digest of all that the object depends on, and of its schedules' origins
  std::string attune_version, halide_version, llvm_version, generator;
};

void write(const manifest &, const std::filesystem::path &file);

/// Nothing if there is no such file, or if it is of another schema.
std::optional<manifest> read_manifest(const std::filesystem::path &file);

} // namespace attune

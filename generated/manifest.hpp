// What an emission leaves beside its object: from what, for what, how, how long, how big, with which versions.
#pragma once
#include "schedules/schedule_point.hpp"
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace attune {

struct manifest {
  static constexpr int schema = 1;

  std::string spec;            ///< name of the spec struct, with its namespaces
  std::string canonical_text;
  std::string hash;            ///< of the canonical text
  std::string target;          ///< our name
  std::string halide_target;   ///< exact
  std::string refused;         ///< why this target cannot carry this spec; then all below are empty
  schedule_point schedule;
  int panel_lanes = 0;         ///< 0 for specs without projections
  std::string run, pack;       ///< symbols in the object, in Halide's argv form; pack is empty without projections
  std::string object;          ///< file name, in the manifest's folder
  std::uintmax_t bytes = 0;    ///< of the object
  double compile_seconds = 0;  ///< lowering and code generation
  std::string fingerprint;     ///< digest of all that the object depends on
  std::string attune_version, halide_version, llvm_version, generator;
};

void write(const manifest &, const std::filesystem::path &file);

/// Nothing if there is no such file, or if it is of another schema.
std::optional<manifest> read_manifest(const std::filesystem::path &file);

} // namespace attune

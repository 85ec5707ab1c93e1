// The program that attune_add_library (cmake/AttuneAddLibrary.cmake) builds for each library: it knows the library's specs
// and does the steps that the build asks for.
#pragma once
#include "dsl/pipeline/operator_description.hpp"
#include <string>
#include <vector>

namespace attune {

/// A spec that a program knows: its name as the person wrote it, and how to describe it. Describing one costs time (user
/// functions are built as expressions), so only what is asked for is described.
struct known_spec {
  std::string name;
  operator_description (*describe)();
};

/// Steps, each the work of one build rule (--help lists their options):
///   emit      one object and its manifest, for one spec and one target
///   runtime   the Halide runtime for the targets of one host architecture
///   register  the typed headers, the registration file, and for each host architecture the list of objects and the list
///             of symbols that stay visible
/// Returns the exit status; errors are one message on stderr.
int emitter_command(const std::vector<known_spec> &specs, int argc, char **argv);

} // namespace attune

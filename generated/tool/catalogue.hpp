// The specs that a tool knows: those of the library that it was made for. attune_add_tool (cmake/AttuneAddTool.cmake) writes the tables.
#pragma once
#include "dsl/pipeline/operator_description.hpp"
#include "dsl/reference/reference_operator.hpp"
#include "runtime/artefact.hpp"
#include <string>
#include <vector>

namespace attune {

struct tool_spec {
  const char *name; ///< as people type it, the last part of the struct's name: "gpt2"
  operator_description (*describe)();
  reference_operator (*refer)();
  const artefact_info &(*info)(); ///< of the kernels in this build
};

const std::vector<tool_spec> &tool_specs();

/// The targets of its library whose kernels are for programs on another machine than this tool's.
const std::vector<std::string> &foreign_targets();

/// By its name, or by the struct's with all its namespaces. Throws std::runtime_error with near matches if there is no such spec.
const tool_spec &find_spec(const std::string &name);

} // namespace attune

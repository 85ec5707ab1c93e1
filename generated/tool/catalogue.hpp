// The stock specs as the tool knows them. generated/CMakeLists.txt holds the list and writes the table from it.
#pragma once
#include "dsl/pipeline/operator_description.hpp"
#include "dsl/reference/reference_operator.hpp"
#include "runtime/artefact.hpp"
#include <string>
#include <vector>

namespace attune {

struct stock_spec {
  const char *name; ///< as people type it: "gpt2"
  operator_description (*describe)();
  reference_operator (*refer)();
  const artefact_info &(*info)(); ///< of the kernels in this build
};

const std::vector<stock_spec> &stock_specs();

/// Throws std::runtime_error with near matches if there is no such spec.
const stock_spec &find_stock_spec(const std::string &name);

} // namespace attune

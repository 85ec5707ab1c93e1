// The kernels of one emitted library with the meaning of their specs. CMake writes tested_kernels() from the list of specs
// (tests/support/kernel_tests.cmake).
#pragma once
#include "dsl/reference/reference_operator.hpp"
#include "runtime/artefact.hpp"
#include <vector>

namespace attune {

struct tested_kernel {
  const char *spec; ///< as CMake names it
  reference_operator (*refer)();
  const artefact_info &(*info)();
};

const std::vector<tested_kernel> &tested_kernels();

} // namespace attune

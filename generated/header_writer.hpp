// The C++ side of a library: the typed header of each spec and the one source file that registers its kernels. What is
// written is C++17 and needs neither Hana nor Halide.
#pragma once
#include "dsl/pipeline/operator_description.hpp"
#include "generated/manifest.hpp"
#include <string>
#include <vector>

namespace attune {

/// The text of <stem>.hpp: declares the spec struct and specialises attune::artefact for it.
std::string typed_header(const operator_description &spec, const std::string &library);

/// A spec of a library with its manifests, one per target that was asked for, in the order of all_targets.
struct registered_spec {
  operator_description spec;
  std::vector<manifest> manifests;
};

/// The text of the library's registration file: it defines artefact<...>::info() for each spec.
std::string registration(const std::vector<registered_spec> &, const std::string &library);

} // namespace attune

// What the C ABI says of specs and targets, as JSON. Private.
#pragma once
#include "runtime/artefact.hpp"
#include "runtime/dispatch.hpp"
#include <string>
#include <vector>

namespace attune {

std::string spec_json(const artefact_info &);
std::string targets_json(const std::vector<target_report> &);

} // namespace attune

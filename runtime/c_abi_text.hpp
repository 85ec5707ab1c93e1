// What the C ABI says of specs and targets, as JSON; and the order of axes that it has. Private.
#pragma once
#include "runtime/artefact.hpp"
#include "runtime/dispatch.hpp"
#include <string>
#include <vector>

namespace attune {

/// The axes of a tensor as the C ABI orders them. bshd swaps the head axis with the token axis (in pages: slot) of query, key, value and output.
tensor_shape in_layout(tensor_shape, tensor_layout);

std::string spec_json(const artefact_info &);
std::string targets_json(const std::vector<target_report> &);

} // namespace attune

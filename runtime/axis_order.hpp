// The order of a tensor's axes where they have no names: in the C ABI, and in errors. Private.
#pragma once
#include "runtime/artefact.hpp"

namespace attune {

/// The axes of a tensor as the C ABI orders them. bshd swaps the head axis with the token axis (in pages: slot) of query, key, value and output.
tensor_shape in_layout(tensor_shape, tensor_layout);

/// "[batch, head, query]", without allocating.
struct axes_text {
  explicit axes_text(const tensor_shape &);
  const char *c_str() const { return text; }
  char text[120] = {};
};

} // namespace attune

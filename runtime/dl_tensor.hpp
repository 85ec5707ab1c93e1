// DLPack's tensors as the runtime's. Private to the C ABI.
#pragma once
#include "runtime/c_abi.h"
#include "runtime/status.hpp"
#include "runtime/tensor.hpp"

namespace attune {

/// A DLTensor whose axes stand in the order of `shape`. `owner` is what an error's text begins with: a spec.
status read_tensor(const char *owner, const tensor_shape &shape, const attune_dl_tensor &, tensor_ref &);

} // namespace attune

// Whether a GPU can be used: the driver is loaded at run time, never linked. Private.
#pragma once
#include <string>

namespace attune {

/// What is missing for a CUDA device of at least this compute capability; empty when there is one.
std::string missing_for_cuda(int major, int minor);
/// What is missing for an OpenCL device; empty when there is one.
std::string missing_for_opencl();

} // namespace attune

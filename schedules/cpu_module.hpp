// A pipeline for CPUs as a module, which counts the elements of its tensors in 64 bits where its target has LargeBuffers.
#pragma once
#include "schedules/prefetch_ahead.hpp"
#include <string>
#include <vector>

namespace attune {

/// With rows that are asked for ahead.
Halide::Module cpu_module(const std::vector<Halide::Func> &outputs, const std::vector<Halide::Argument> &, const std::string &function_name, const Halide::Target &, const std::vector<rows_ahead> & = {});

} // namespace attune

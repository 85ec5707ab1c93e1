// A pipeline for CPUs as a module that counts the elements of its tensors in 64 bits.
#pragma once
#include "dsl/targets.hpp"
#include "schedules/prefetch_ahead.hpp"
#include <string>
#include <vector>

namespace attune {

/// With rows that are asked for ahead.
Halide::Module cpu_module(const std::vector<Halide::Func> &outputs, const std::vector<Halide::Argument> &, const std::string &function_name, const target_info &, const std::vector<rows_ahead> & = {});

} // namespace attune

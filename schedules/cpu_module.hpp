// A pipeline for CPUs as a module that counts the elements of its tensors in 64 bits.
#pragma once
#include "dsl/targets.hpp"
#include <Halide.h>
#include <string>
#include <vector>

namespace attune {

Halide::Module cpu_module(const std::vector<Halide::Func> &outputs, const std::vector<Halide::Argument> &, const std::string &function_name, const target_info &);

} // namespace attune

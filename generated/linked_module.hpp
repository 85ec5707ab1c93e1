// Several modules as one object: Halide's link_modules, and what it leaves to its caller.
#pragma once
#include <Halide.h>
#include <string>
#include <vector>

namespace attune {

/// One module with the functions of all parts, which must be for one target and have functions of different names.
Halide::Module linked_module(const std::string &name, std::vector<Halide::Module> parts);

} // namespace attune

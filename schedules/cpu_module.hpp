// A pipeline for CPUs as a module, which counts the elements of its tensors in 64 bits where its target has LargeBuffers.
#pragma once
#include "schedules/prefetch_ahead.hpp"
#include "schedules/tile_products.hpp"
#include <string>
#include <vector>

namespace attune {

/// What is changed in a pipeline once Halide has lowered it.
struct lowering {
  std::vector<rows_ahead> fetched;  ///< rows that are asked for ahead
  tiled_funcs tiled;
};
Halide::Module cpu_module(const std::vector<Halide::Func> &outputs, const std::vector<Halide::Argument> &, const std::string &function_name, const Halide::Target &, const lowering & = {});

} // namespace attune

// What this machine has, feature by feature. Private.
#pragma once
#include "dsl/targets.hpp"
#include <string>

namespace attune {

/// What the machine lacks to run a target, in words: "AVX2 and FMA", "libcuda.so.1". Empty: it runs. Found once per process.
const std::string &missing_for(target_id);

} // namespace attune

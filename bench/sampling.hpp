// Samples of a call's time: how many, and how far apart they lie.
#pragma once
#include "schedules/samples.hpp"
#include <algorithm>
#include <cstddef>
#include <vector>

namespace attune::bench {

/// Distance of the quartiles over the median.
inline double spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[values.size() * 3 / 4] - values[values.size() / 4]) / median_of(values);
}

/// Calls that one sample is the median of: short calls are repeated for about 15 ms. Odd, so that the median is one of them.
inline int calls_for(double seconds) { return std::clamp(static_cast<int>(0.015 / seconds), 1, 25) | 1; }

} // namespace attune::bench

// Samples of a time, and what is said of them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace attune::bench {

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t upper = values.size() / 2, lower = (values.size() - 1) / 2;
  return (values[lower] + values[upper]) / 2;
}

/// Distance of the quartiles over the median.
inline double spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[values.size() * 3 / 4] - values[values.size() / 4]) / median(values);
}

/// Calls that one sample is the median of: short calls are repeated for about 15 ms. Odd, so that the median is one of them.
inline int calls_for(double seconds) { return std::clamp(static_cast<int>(0.015 / seconds), 1, 25) | 1; }

} // namespace attune::bench

// What is said of samples of a time.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace attune {

/// 0 of no samples.
inline double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// Median absolute deviation from the median.
inline double mad_of(const std::vector<double> &values) {
  const double median = median_of(values);
  std::vector<double> deviations;
  for (const double v : values) deviations.push_back(std::abs(v - median));
  return median_of(deviations);
}

} // namespace attune

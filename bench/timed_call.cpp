#include "bench/timed_call.hpp"
#include "bench/kernel_call.hpp"
#include "bench/projection_call.hpp"
#include <cmath>
#include <limits>

namespace attune::bench {

std::unique_ptr<timed_call> make_call(const work &w) {
  if (w.projection) return std::make_unique<projection_call>(w);
  return std::make_unique<kernel_call>(w);
}

double error_in_bounds(const std::vector<float> &output, const expected_rows &expected, const work &w) {
  const std::vector<std::int64_t> &extents = expected.output.extents;
  const std::int64_t features = extents.back(), rows = extents[extents.size() - 2], kept = rows * features, all = w.queries * features;
  const std::size_t outer = expected.output.values.size() / static_cast<std::size_t>(kept);
  if (output.size() != outer * static_cast<std::size_t>(all)) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < expected.output.values.size(); ++i) {
    const std::int64_t n = static_cast<std::int64_t>(i);
    const double error = std::abs(output[static_cast<std::size_t>(n / kept * all + (all - kept) + n % kept)] - expected.output.values[i]) / expected.bound;
    if (!(error <= largest)) largest = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }
  return largest;
}

} // namespace attune::bench

#include "story.hpp"
#include <algorithm>
#include <cmath>

namespace walkthrough {

void story::show(const std::vector<double> &figures, std::size_t columns) {
  for (std::size_t i = 0; i < figures.size(); i += columns) {
    std::string row = "     ";
    for (std::size_t j = i; j < std::min(i + columns, figures.size()); ++j) row += fmt::format(" {:8.4f}", figures[j]);
    say("{}", row);
  }
}

void story::same_digits(const std::string &what, const std::vector<double> &got, const std::vector<double> &printed) {
  // Two correct f32 computations differ by a few units in the last place of numbers near 1. A figure that close to the boundary
  // between two printed digits may come out on either side: the article's -0.2627 is -0.26264992 in exact arithmetic.
  constexpr double half_a_digit = 0.5e-4, f32_rounding = 2.5e-7;
  std::size_t same = 0, wrong = got.size() != printed.size();
  std::string others;
  for (std::size_t i = 0; i < std::min(got.size(), printed.size()); ++i) {
    const bool equal = fmt::format("{:.4f}", got[i]) == fmt::format("{:.4f}", printed[i]);
    const bool on_boundary = std::abs(got[i] - printed[i]) <= half_a_digit + f32_rounding;
    same += equal;
    wrong += !equal && !on_boundary;
    if (!equal) others += fmt::format("; {:.8f} {} {:.4f}", got[i], on_boundary ? "lies on the boundary to" : "is not", printed[i]);
  }
  record(what, wrong == 0, fmt::format("{} of {} figures as printed{}", same, printed.size(), others));
}

void story::close(const std::string &what, const std::vector<double> &got, const std::vector<double> &reference, double allowed) {
  double largest = got.size() == reference.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(got.size(), reference.size()); ++i) {
    const double difference = std::abs(got[i] - reference[i]);
    if (!(difference <= largest)) largest = difference; // keeps a NaN
    if (std::isnan(largest)) break;
  }
  record(what, !got.empty() && largest <= allowed, fmt::format("{} values, largest difference {:.1e}, allowed {:.0e}", got.size(), largest, allowed));
}

void story::holds(const std::string &what, bool ok) { record(what, ok, ok ? "holds" : "does not hold"); }

void story::record(const std::string &what, bool ok, const std::string &detail) {
  ++checks_;
  failures_ += !ok;
  if (only_checks_) fmt::print("  {:<5} {}: {}\n", ok ? "ok" : "WRONG", what, detail);
  else fmt::print("      {} {}: {}\n", ok ? "✓" : "✗ WRONG", what, detail);
}

} // namespace walkthrough

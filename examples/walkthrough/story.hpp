// What the walkthrough prints: a story for a reader, or, for a check, one line for each comparison.
#pragma once
#include <fmt/format.h>
#include <string>
#include <vector>

namespace walkthrough {

class story {
public:
  explicit story(bool only_checks) : only_checks_(only_checks) {}

  /// A passage of the story; silent in a check.
  template <class... Args> void say(fmt::format_string<Args...> text, Args &&...args) {
    if (!only_checks_) fmt::print("{}\n", fmt::format(text, std::forward<Args>(args)...));
  }
  /// Rows of `columns` figures, with 4 digits after the point; silent in a check.
  void show(const std::vector<double> &figures, std::size_t columns);

  /// The article prints these figures, with 4 digits after the point: each must come out with the same digits, unless it lies
  /// on the boundary between two, within f32 rounding.
  void same_digits(const std::string &what, const std::vector<double> &got, const std::vector<double> &printed);
  /// No value may be further than `allowed` from its reference.
  void close(const std::string &what, const std::vector<double> &got, const std::vector<double> &reference, double allowed);
  void holds(const std::string &what, bool);

  int checks() const { return checks_; }
  int failures() const { return failures_; }

private:
  void record(const std::string &what, bool ok, const std::string &detail);

  bool only_checks_;
  int checks_ = 0, failures_ = 0;
};

template <class T> std::vector<double> widen(const std::vector<T> &values) { return {values.begin(), values.end()}; }

} // namespace walkthrough

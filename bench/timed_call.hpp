// What a row times: a call with tensors of its own, whose result can be checked, and whose inputs others can be given.
#pragma once
#include "bench/works.hpp"
#include "dsl/reference/reference.hpp"
#include <filesystem>
#include <memory>

namespace attune::bench {

/// The last queries' output in double precision, and the bound on its error.
struct expected_rows {
  scalar_tensor output; ///< [batch, head, query, value_dim] or [batch, query, feature], of the last queries only
  double bound = 0;     ///< of our own kernels; generated/check.hpp
};
inline constexpr std::int64_t checked_queries = 4;

class timed_call {
public:
  virtual ~timed_call() = default;
  /// Throws attune::error.
  virtual void run(int threads) = 0;
  /// Before a sample, untimed: touches the memory of a cold work.
  virtual void touch() const {}
  /// Bytes that a call on the work's threads holds at most, beside its tensors.
  virtual std::size_t scratch_bytes() = 0;
  /// As float, in the order of the tensor's axes.
  virtual std::vector<float> output() const = 0;
  virtual expected_rows reference() const = 0;
  /// Writes the files that docs/benchmarks.md names.
  virtual void write_inputs(const std::filesystem::path &folder) const = 0;
};

/// The call of a work. Inputs are N(0,1), the same in every run.
std::unique_ptr<timed_call> make_call(const work &);

/// The largest |got - expected| over the last queries, in units of the bound; infinite where either is NaN.
double error_in_bounds(const std::vector<float> &output, const expected_rows &, const work &);

} // namespace attune::bench

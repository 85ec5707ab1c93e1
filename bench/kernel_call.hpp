// A row's call of our own kernel: its tensors, its inputs as files for other implementations, and what its last queries
// should give, by the double-precision reference.
#pragma once
#include "bench/memory_block.hpp"
#include "bench/works.hpp"
#include "generated/check.hpp"
#include <filesystem>

namespace attune::bench {

/// The last queries' output in double precision, and the bound on its error.
struct expected_rows {
  scalar_tensor output; ///< [batch, head, query, value_dim] or [batch, query, model_dim], of the last queries only
  double bound = 0;     ///< error bound of our kernels: generated/check.hpp
};

class kernel_call {
public:
  /// Inputs are N(0,1), the same in every run; weights as check_weights makes them.
  explicit kernel_call(const work &);

  /// Calls the kernel on the next copy of key and value. Throws attune::error.
  void run(int threads);
  /// Bytes that a call on the work's threads holds at most, beside its tensors.
  std::size_t scratch_bytes();
  /// As float, in the order of the signature's axes.
  std::vector<float> output() const;

  expected_rows reference() const;
  /// Writes <tensor>.bin (the work's element) for each input, and f32 <projection>_weight.bin [in, out] and _bias.bin.
  void write_inputs(const std::filesystem::path &folder) const;

private:
  struct input {
    tensor_shape shape;
    std::vector<std::int64_t> extents;
    std::vector<memory_block> copies; ///< more than one for key and value of a cold work
  };
  std::int64_t extent_of_axis(const axis_extent &) const;
  scalar_tensor last_of(const input &, std::int64_t rows) const;
  const input &input_of(tensor_role) const;
  std::vector<tensor_ref> references(std::size_t copy);

  work work_;
  reference_operator op_;
  signature signature_;
  check_weights weights_;
  const packed_weights_ref *packed_ = nullptr;
  std::vector<input> tensors_; ///< in the order of the signature; no copies for packed weights
  std::size_t copies_ = 1, next_ = 0;
};

/// The largest |got - expected| over the last queries, in units of the bound; infinite where either is NaN.
double error_in_bounds(const std::vector<float> &output, const expected_rows &, const work &);

} // namespace attune::bench

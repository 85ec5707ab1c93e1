// A row's call of a kernel, through the runtime as a program would.
#pragma once
#include "generated/timing/memory_block.hpp"
#include "bench/timed_call.hpp"
#include "generated/check.hpp"

namespace attune::bench {

class kernel_call final : public timed_call {
public:
  /// Weights are as check_weights makes them.
  explicit kernel_call(const work &);

  /// On the next copy of key and value.
  void run(int threads) override;
  void touch() const override;
  std::size_t scratch_bytes() override;
  std::vector<float> output() const override;
  expected_rows reference() const override;
  void write_inputs(const std::filesystem::path &folder) const override;

private:
  struct input {
    tensor_shape shape;
    std::vector<std::int64_t> extents;
    std::vector<memory_block> copies; ///< more than one for key and value of a cold work
  };
  std::int64_t extent_of_axis(const axis_extent &) const;
  void fill(input &, std::uint64_t seed) const;
  static scalar_tensor whole(const input &);
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

} // namespace attune::bench

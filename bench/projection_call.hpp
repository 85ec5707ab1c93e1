// A row's call of one projection: rows of hidden states times a packed matrix, plus bias. The weights are those of the spec's
// output projection.
#pragma once
#include "HalideRuntime.h"
#include "generated/timing/memory_block.hpp"
#include "bench/timed_call.hpp"
#include "generated/check.hpp"

namespace attune::bench {

class projection_call final : public timed_call {
public:
  explicit projection_call(const work &);

  void run(int threads) override;
  std::size_t scratch_bytes() override;
  std::vector<float> output() const override;
  expected_rows reference() const override;
  void write_inputs(const std::filesystem::path &folder) const override;

private:
  void call(call_context &);

  /// A tensor as generated code takes it, innermost axis first.
  struct buffer {
    halide_dimension_t axes[3];
    halide_buffer_t head = {};
    void describe(void *data, element_type, std::initializer_list<std::int64_t> extents);
  };

  work work_;
  check_weights weights_;
  element_type element_;
  memory_block rows_, result_;
  buffer rows_buffer_, matrix_, bias_, result_buffer_;
};

} // namespace attune::bench

// Partial results put together: attention over all keys from attention over parts of them, by their log-sum-exp. C++17.
//
//   attune::merge({{output_1, lse_1}, {output_2, lse_2}}, output, lse);
//
// Parts are what kernels of one spec with returns<lse> gave for disjoint sets of keys: on several machines, from several caches. With
//   lse = log(sum over i of exp(lse_i)),   output = sum over i of exp(lse_i - lse) output_i
// the result is that of one call over all keys. A part whose LSE is -inf had no key in that row: its output is not read. Where every
// part is empty, output is 0 and LSE -inf. NaN stays NaN. An attention sink must count in one part alone (or be one: output 0, LSE the sink).
#pragma once
#include "runtime/status.hpp"
#include "runtime/tensor.hpp"
#include <initializer_list>

namespace attune {

/// One partial result. output: batch, head, query, value_dim, in any order, with any strides, f32, f16 or bf16; lse: batch, head,
/// query, f32. Batch may be left out where it is 1.
struct partial_result {
  tensor_ref output, lse;

  partial_result() = default;
  partial_result(const tensor_ref &output_, const tensor_ref &lse_) : output(output_), lse(lse_) {}
  template <class Output, class Lse> partial_result(const Output &output_, const Lse &lse_) : output(erase(output_)), lse(erase(lse_)) {}
};

/// Writes the whole result, which has the axes of a part; each output may have an element type of its own. Takes the calling thread.
/// The result may be written over a part: where output, or lse, is the very view that a part has. Any other overlap is refused.
/// Before anything is written, the arguments are checked as those of a kernel are (runtime/call.hpp).
status try_merge(const partial_result *parts, std::size_t count, const partial_result &whole) noexcept;

/// The same with views or tensors. Throws attune::error.
template <class Output, class Lse> void merge(const partial_result *parts, std::size_t count, const Output &output, const Lse &lse) {
  require(try_merge(parts, count, {output, lse}));
}
template <class Output, class Lse> void merge(std::initializer_list<partial_result> parts, const Output &output, const Lse &lse) {
  merge(parts.begin(), parts.size(), output, lse);
}

} // namespace attune

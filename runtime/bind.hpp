// The checks of a call, and the tensors as generated code wants them: axes in the signature's order, none missing. Private.
#pragma once
#include "runtime/call.hpp"

namespace attune {

struct bound_tensor {
  const tensor_shape *shape = nullptr;
  void *data = nullptr;
  std::int64_t extent[maximum_rank] = {}, stride[maximum_rank] = {}; ///< in the order of the signature; elements
};

/// A call whose arguments passed.
struct bound_call {
  bound_tensor tensors[maximum_tensors];
  const packed_weights_ref *weights = nullptr;
  std::int64_t batch = 1, query = 0, key = 0;
  float reals[maximum_numbers] = {};         ///< all but windows
  std::int32_t integers[maximum_numbers] = {}; ///< windows
};

status bind(const artefact_info &, const tensor_ref *tensors, int tensor_count, const double *numbers, int number_count, bound_call &) noexcept;

/// Refuses tensors that reach over more elements than code for devices, and for projections, can count.
status check_31_bits(const artefact_info &, const bound_call &) noexcept;

/// One weight matrix or bias, with axes and extents as weight_shape (runtime/weights.hpp) says. f32, f16 and bf16 pass.
status bind_weight(const artefact_info &, const tensor_shape &, const tensor_ref &, bound_tensor &) noexcept;

/// Whether two tensors share an element; true as well where that cannot be told from their strides.
bool may_overlap(const bound_tensor &, const bound_tensor &) noexcept;
/// Whether two indices of one tensor lead to one element; true as well where that cannot be told from its strides.
bool may_overlap_itself(const bound_tensor &) noexcept;

/// Reads lengths of keys and prefixes and offsets of documents, and refuses those outside the keys or queries; then, where the spec makes empty rows an error, refuses
/// a row that its causal, prefix, window, length and offset masks leave without a key.
status check_rows(const artefact_info &, const bound_call &) noexcept;

/// The keys that the page table has room for, as the call's key extent. Tensors with a key axis must have as many.
status bind_pages(const artefact_info &, std::int64_t key_axis, const char *with_key_axis, bound_call &) noexcept;
/// Refuses pages outside the cache, as far as key lengths reach.
status check_pages(const artefact_info &, const bound_call &) noexcept;
/// Leaves no more of a cache's keys, or of its page table, than the longest batch has: for specs where nothing else counts on the
/// extent, which are those with pages or with diagonals that follow key lengths.
void cut_to_longest(const artefact_info &, bound_call &) noexcept;

/// The place of the tensor of this role in the call, or -1.
int place_of(const artefact_info &, tensor_role) noexcept;
/// Refuses position offsets out of range, and tables of angles that lack a position of the call.
status check_positions(const artefact_info &, const bound_call &) noexcept;

} // namespace attune

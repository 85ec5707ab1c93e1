// The one call behind every wrapper: checks all that the compiler could not, then runs the generated code. C++17.
#pragma once
#include "runtime/artefact.hpp"
#include "runtime/call_context.hpp"
#include "runtime/status.hpp"
#include "runtime/tensor.hpp"
#include <optional>

namespace attune {

struct call_options {
  std::optional<target_id> target;  ///< run this target's code; empty: see runtime/dispatch.hpp
  int threads = 0;                  ///< at most this many; 0: ATTUNE_THREADS, or as many as the process may use
  thread_pool pool;                 ///< if set, used instead of Attune's own threads
  allocator memory;                 ///< if set, used instead of the per-thread workspace
  void *cuda_context = nullptr;     ///< CUcontext; null: Attune makes one
  void *cuda_stream = nullptr;      ///< CUstream; null: the default stream
};

/// One projection's weights as generated code reads them.
struct packed_matrix {
  void *data = nullptr;    ///< element of the spec, innermost first: lane, feature in, panel
  float *bias = nullptr;   ///< [panels * lanes]; 0 where the projection has none
  std::int64_t features_in = 0, features_out = 0;
};

/// Weights as a call passes them: tensor_ref::data of the tensor of role packed_weights points to one of these.
struct packed_weights_ref {
  const char *spec = "";         ///< name of the spec that they were packed for
  const char *hash = "";         ///< of that spec
  target_id target = target_id::avx2;
  int lanes = 0;                 ///< features out per panel
  int count = 0;                 ///< 3, or 4 with an output projection
  packed_matrix matrices[4];     ///< query, key, value, output
};

/// Runs one kernel. `tensors` and `numbers` stand in the order of the artefact's signature.
///
/// Checked, in this order and before anything is written: counts; axes, element types, strides, alignment, null data;
/// extents against the spec and between tensors; overlap; numbers; key lengths; empty rows where the spec makes them an
/// error (for causal, window and length masks: what a mask tensor or a function leaves empty is not seen); the number of threads; the target.
///
/// Batch may be left out: it is then 1, or, for a tensor that is only read while others have a batch, the same for all of
/// the batch. Extents of 0 are allowed: with no batch or no query nothing is written; with no key the output is 0 (or the
/// output projection's bias) and LSE -inf.
status call(const artefact_info &, const tensor_ref *tensors, int tensor_count, const double *numbers, int number_count, const call_options &) noexcept;

} // namespace attune

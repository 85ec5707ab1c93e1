// What the emitter knows of one spec, as data: one record per spec in a library, one variant per target. C++17.
#pragma once
#include "dsl/signature.hpp"
#include "dsl/targets.hpp"

namespace attune {

/// A generated function in Halide's `argv` form. argv holds pointers, in this order:
///   1. a `void *` user context, which points to an attune::call_context (runtime/call_context.hpp)
///   2. the tensors that are read, in the order of the signature, each as halide_buffer_t *. Axes are reversed (innermost
///      first) and all present; packed weights stand as query matrix, query bias, key matrix, key bias, value matrix,
///      value bias [, output matrix, output bias]
///   3. the call's numbers, in the order of the signature: int32_t * for window, float * for all others
///   4. the tensors that are written, in the order of the signature
/// f16 and bf16 tensors are passed as uint16, those of boolean, e4m3 and e5m2 elements as uint8.
/// `pack` takes a user context, a weight matrix (f32, innermost first: feature out, feature in; any strides) and the
/// packed matrix it writes (element of the spec, innermost first: place in the panel [panel_lanes * features in], panel;
/// panels = ceil(out / panel_lanes); what stands where in a panel is the target's own business).
/// A packed bias is f32 [panels * panel_lanes], 0 where there is none.
using generated_function = int (*)(void **argv);

/// One generated kernel and the calls that take it.
struct artefact_kernel {
  int max_queries, max_keys; ///< of one batch element; INT_MAX: any number
  generated_function run;
  const char *schedule;      ///< family and parameters, in one line
};

struct artefact_variant {
  target_id target;
  const artefact_kernel *kernels; ///< a call takes the first whose limits hold; those of the last hold for every call
  int kernel_count;
  generated_function pack;        ///< null for specs without projections
  int panel_lanes;                ///< 0 for specs without projections; the same for all kernels
};

struct artefact_info {
  const char *spec;         ///< name of the spec struct, with its namespaces
  const char *hash;         ///< of the spec's canonical text
  numbers n;
  signature call;
  const artefact_variant *variants;
  int variant_count;
};

/// Specialised by the emitted header of each spec (tests/must_not_compile/emitted_example.hpp shows one), with
///   static constexpr numbers n; static constexpr signature call; static constexpr const char *hash;
///   static const artefact_info &info();
template <class Spec> struct artefact;

} // namespace attune

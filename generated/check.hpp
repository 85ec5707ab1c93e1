// Checks a generated kernel against the scalar reference: makes the inputs, calls through the runtime, compares. No Halide.
//
// Bounds: an output element may be off by b x max|V| (under sigmoid times the largest sum of a row's weights, where that is above 1),
// log-sum-exp by b x max(1, |LSE|), an attention weight by b, a returned score by b x max(1, max|score|), where b is
// 2e-6 for f32, 2^-10 for f16 and 2^-7 for bf16, and V is the value tensor (for layers: as projected and stored).
#pragma once
#include "dsl/call_lengths.hpp"
#include "dsl/reference/reference.hpp"
#include "generated/check_tensor.hpp"
#include "runtime/weights.hpp"
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// One call of a kernel. Keys and queries must be equal where the spec makes them so.
struct check_case {
  int batch = 1, queries = 1, keys = 1;
  memory_order order = memory_order::bhsd;
  std::uint64_t seed = 1;
  int threads = 0; ///< as call_options::threads
  std::string text() const;
};

/// The weights of a spec with projections: matrices N(0, 1/features in), so that what they give stays N(0,1); bias N(0, 0.01).
class check_weights {
public:
  linear_map query, key, value, output;
  check_weights(const numbers &n, std::uint64_t seed);
  /// Packed for the options' target, once. Null, and `ended` says why, if that fails.
  const packed_weights_ref *packed(const artefact_info &info, const call_options &options, status &ended);

private:
  std::map<target_id, detail::packed_memory> packed_;
};

/// The tensors and numbers of one call. Inputs start as N(0,1) (boolean ones true at 3 of 4 places, additive masks -inf at
/// 1 of 4, i32 inputs 0..3); keys and values past a batch's length are NaN. Tests change what they like before run().
class check_call {
public:
  check_call(const reference_operator &op, const check_case &how, std::shared_ptr<check_weights> weights = nullptr);
  /// The same without values in its inputs.
  struct unfilled {};
  check_call(unfilled, const reference_operator &op, const check_case &how, std::shared_ptr<check_weights> weights);

  const reference_operator &op() const { return op_; }
  const check_case &how() const { return how_; }
  check_tensor &tensor(std::string_view name);
  const check_tensor &tensor(std::string_view name) const;
  /// The tensors that the kernel reads, in the order of the signature.
  std::vector<const check_tensor *> inputs() const;
  double &number(number_role role);
  /// What the reference must be given to compute the same.
  reference_arguments arguments() const;
  reference_answer reference() const { return evaluate_reference(op_, arguments()); }
  /// Calls the kernel. Inputs are write-protected meanwhile; a read or write outside the tensors ends the program with one
  /// sentence. What earlier runs left in the outputs is wiped.
  status run(const artefact_info &info, call_options options);
  /// The outputs against the reference; empty if all is well, else what is wrong, where, got, expected and the bound.
  std::string differences(const reference_answer &expected) const;

private:
  reference_operator op_;
  signature signature_;
  check_case how_;
  std::shared_ptr<check_weights> weights_;
  std::vector<std::unique_ptr<check_tensor>> tensors_; ///< in the order of the signature; null for packed weights
  std::vector<double> numbers_;
};

/// b of the bounds above.
double error_bound(element_type element);

struct check_result {
  bool passed = false;
  std::string text; ///< spec, target, case and, if it failed, what is wrong
};
check_result check_kernel(const artefact_info &info, const reference_operator &op, target_id target, const check_case &how,
                          std::shared_ptr<check_weights> weights = nullptr);
/// The same for a call that is there, and what the reference expects of it.
check_result check_kernel(const artefact_info &info, target_id target, check_call &call, const reference_answer &expected);

/// The cases that every kernel of a spec and target goes through: lengths 1 and 2, one below, at and above each tile size (those
/// that the schedules' texts name and the usual ones) and each limit between two kernels, primes, around a window, queries != keys
/// where the spec allows, batch 0, 1 and 3, zero queries or keys, all memory orders. Cases whose reference takes more than
/// `work` multiply-adds, all together, are left out, largest first; each kernel has an equal part of the work.
std::vector<check_case> standard_cases(const numbers &n, const artefact_variant &variant, double work);

/// The cases that a kernel with one schedule goes through, in calls of one bucket: 1, a prime, and one less and one more than each tile size
/// that the schedule's text names, as queries and as keys, so that no tile divides them; cheapest first, as far as `work` reaches.
std::vector<check_case> bucket_cases(const numbers &n, std::string_view schedule, length_bucket bucket, double work);

/// How many of the cases run each kernel of the variant, in the order of its kernels.
std::vector<int> cases_by_kernel(const artefact_variant &variant, const std::vector<check_case> &cases);

} // namespace attune

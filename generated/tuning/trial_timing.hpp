// Timing of kernels against each other: one call's tensors, and rounds in which every kernel is called.
#pragma once
#include "generated/timing/memory_block.hpp"
#include "generated/timing/probes.hpp"
#include "generated/check.hpp"
#include "generated/tuning/trial_kernel.hpp"
#include <memory>
#include <vector>

namespace attune {

/// The tensors and numbers of a call, filled once; any kernel of the spec can be called on them.
class timed_call {
public:
  /// `cold`: key and value are taken from so many copies in turn that no cache holds them.
  timed_call(const reference_operator &, int batch, int queries, int keys, bool cold, std::shared_ptr<check_weights>);

  /// Throws std::runtime_error if the call fails.
  void run(const trial_kernel &, int threads);
  /// What the last call wrote, all outputs one after the other.
  std::vector<float> answer() const;
  /// What two right answers may differ by.
  double tolerance(const std::vector<float> &right) const;

private:
  struct tensor {
    tensor_shape shape;
    tensor_ref reference;
    memory_block memory;          ///< the copies, one after the other
    std::size_t copies = 0, stride = 0;  ///< none for packed weights; bytes from one to the next
    std::size_t count = 0;               ///< elements of one copy
    char *copy(std::size_t i) const { return memory.data() + i % copies * stride; }
  };
  std::vector<tensor> tensors_; ///< in the order of the signature
  std::vector<double> numbers_;
  std::shared_ptr<check_weights> weights_;
  element_type element_;
  std::size_t next_ = 0;
};

/// Seconds of one call for each kernel and round.
struct timing {
  std::vector<std::vector<double>> seconds; ///< by kernel
  double peak = 0;                          ///< the highest probe, GFLOP/s
};

struct timing_plan {
  int threads = 1;
  int fewest_rounds = 3, most_rounds = 7;
  double time = 0.3;     ///< seconds to spend, between the two numbers of rounds
  double highest = 0;    ///< the highest probe known so far
  double drop_at = 0;    ///< a kernel that takes this many times as long as the first one in two rounds is not called again; 0: none is
};

/// Calls all kernels once in each round, between two probes of the core; a round whose probe is 5 % below the highest was
/// disturbed, and is done again, a few times at most. Each kernel has been called before. Short calls are repeated until a
/// millisecond has passed.
timing time_rounds(timed_call &, const std::vector<const trial_kernel *> &, probes &, probe_kind, const timing_plan &);

} // namespace attune

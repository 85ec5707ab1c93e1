#include "generated/tuning/trial_timing.hpp"
#include "runtime/call.hpp"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <stdexcept>

namespace attune {
namespace {
using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

float element_at(const char *data, element_type e, std::size_t i) {
  if (e == element_type::f32) return reinterpret_cast<const float *>(data)[i];
  if (e == element_type::f16) return static_cast<float>(reinterpret_cast<const f16_t *>(data)[i]);
  return static_cast<float>(reinterpret_cast<const bf16_t *>(data)[i]);
}
} // namespace

timed_call::timed_call(const reference_operator &op, int batch, int queries, int keys, bool cold, std::shared_ptr<check_weights> weights)
    : weights_(std::move(weights)), element_(op.n.element) {
  check_case how{batch, queries, keys};
  check_call filled(op, how, weights_); // inputs as the checker makes them
  const signature s = op.call();
  for (int i = 0; i < s.number_count; ++i) numbers_.push_back(filled.number(s.call_numbers[i]));
  for (int i = 0; i < s.tensor_count; ++i) {
    tensor &t = tensors_.emplace_back();
    t.shape = s.tensors[i];
    if (t.shape.role == tensor_role::packed_weights) continue;
    const check_tensor &from = filled.tensor(t.shape.name);
    const bool rotates = cold && (t.shape.role == tensor_role::key || t.shape.role == tensor_role::value);
    const std::size_t bytes = from.memory().size();
    t.stride = (bytes + 63) / 64 * 64;
    t.copies = rotates ? 1 + cold_bytes() / (2 * t.stride + 1) : 1;
    t.memory = memory_block(t.copies * t.stride);
    for (std::size_t c = 0; c < t.copies; ++c) std::memcpy(t.copy(c), from.data(), bytes);
    t.count = static_cast<std::size_t>(from.count());
    t.reference.element = t.shape.element, t.reference.writable = t.shape.written, t.reference.rank = t.shape.rank;
    for (int a = 0; a < t.shape.rank; ++a)
      t.reference.axes[a] = t.shape.axes[a].axis, t.reference.extent[a] = from.extents()[a], t.reference.stride[a] = from.strides()[a];
  }
}

void timed_call::run(const trial_kernel &kernel, int threads) {
  call_options options;
  options.target = kernel.target();
  options.threads = threads;
  std::vector<tensor_ref> references;
  status packed;
  for (tensor &t : tensors_) {
    references.push_back(t.reference);
    references.back().data = t.copies == 0 ? const_cast<packed_weights_ref *>(weights_->packed(kernel.info(), options, packed)) : static_cast<void *>(t.copy(next_));
  }
  ++next_;
  const status ended = packed ? call(kernel.info(), references.data(), static_cast<int>(references.size()), numbers_.data(), static_cast<int>(numbers_.size()), options) : packed;
  if (!ended) throw std::runtime_error(ended.message());
}

std::vector<float> timed_call::answer() const {
  std::vector<float> all;
  for (const tensor &t : tensors_)
    for (std::size_t i = 0; t.shape.written && i < t.count; ++i) all.push_back(element_at(t.copy(0), t.shape.element, i));
  return all;
}

/// Both may be off by the checker's bound, b x max|V|; values are N(0,1), so that max|V| is at least 4 where there are many.
double timed_call::tolerance(const std::vector<float> &right) const {
  double largest = 4;
  for (const float x : right)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(static_cast<double>(x)));
  return 2 * error_bound(element_) * largest;
}

namespace {
/// Calls kernels in rounds and keeps their times.
class rounds {
public:
  rounds(timed_call &call, const std::vector<const trial_kernel *> &kernels, probes &core, probe_kind kind, const timing_plan &plan)
      : call_(call), kernels_(kernels), core_(core), kind_(kind), plan_(plan), repeats_(kernels.size(), 1), dropped_(kernels.size(), false) {
    result_.seconds.resize(kernels.size());
    result_.peak = plan.highest;
    for (std::size_t k = 0; k < kernels.size(); ++k)
      if (const double once = seconds_of(k); once < shortest_sample) repeats_[k] = static_cast<int>(std::min(1e5, std::ceil(shortest_sample / std::max(once, 1e-8))));
  }

  timing run() {
    const auto start = clock::now();
    probe();
    for (int round = 0; round < plan_.most_rounds && (round < plan_.fewest_rounds || seconds_since(start) < plan_.time); ++round) {
      undisturbed_round(round % 2 == 1);
      if (round == 1 && plan_.drop_at > 0) drop_slow();
    }
    return std::move(result_);
  }

private:
  static constexpr double shortest_sample = 1e-3; // seconds

  double seconds_of(std::size_t k) {
    const auto start = clock::now();
    for (int i = 0; i < repeats_[k]; ++i) call_.run(*kernels_[k], plan_.threads);
    return seconds_since(start) / repeats_[k];
  }
  double probe() {
    last_ = core_.run(kind_);
    result_.peak = std::max(result_.peak, last_);
    return last_;
  }
  /// Kernels take turns in being called first, on caches that the probe has not warmed.
  void undisturbed_round(bool backwards) {
    std::vector<double> seconds(kernels_.size(), 0);
    for (int tries = 1;; ++tries) {
      const double before = last_;
      for (std::size_t i = 0; i < kernels_.size(); ++i)
        if (const std::size_t k = backwards ? kernels_.size() - 1 - i : i; !dropped_[k]) seconds[k] = seconds_of(k);
      if (std::min(before, probe()) >= 0.95 * result_.peak || tries == 4) break;
    }
    for (std::size_t k = 0; k < kernels_.size(); ++k)
      if (!dropped_[k]) result_.seconds[k].push_back(seconds[k]);
  }
  void drop_slow() {
    const auto fastest = [](const std::vector<double> &s) { return *std::min_element(s.begin(), s.end()); };
    bool any_left = kernels_.size() == 1;
    for (std::size_t k = 1; k < kernels_.size(); ++k) {
      dropped_[k] = fastest(result_.seconds[k]) > plan_.drop_at * fastest(result_.seconds[0]);
      any_left = any_left || !dropped_[k];
    }
    if (!any_left) plan_.most_rounds = 0;
  }

  timed_call &call_;
  const std::vector<const trial_kernel *> &kernels_;
  probes &core_;
  probe_kind kind_;
  timing_plan plan_;
  std::vector<int> repeats_;
  std::vector<bool> dropped_;
  timing result_;
  double last_ = 0;
};
} // namespace

timing time_rounds(timed_call &call, const std::vector<const trial_kernel *> &kernels, probes &core, probe_kind kind, const timing_plan &plan) {
  return rounds(call, kernels, core, kind, plan).run();
}

} // namespace attune

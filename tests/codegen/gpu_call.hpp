// Calls of the kernels in gpu_call_specs.hpp through the wrapper, with inputs that depend only on the place.
#pragma once
#include "gpu_call_library/causal.hpp"
#include "gpu_call_library/grouped.hpp"
#include "runtime/kernel.hpp"
#include <cmath>
#include <vector>

namespace gpu_call {
using namespace attune;
using namespace attune::axes;

inline constexpr int queries = 100, keys = 130, batches = 2;

template <class Tensor> void fill(Tensor &t, float step) {
  float i = 0;
  for (float &v : t) v = std::sin(step * (i += 1));
}

/// Query, key and value of a spec's heads and dims, and what a call of its kernel writes.
template <int Heads, int KvHeads, int Dim> struct call_data {
  tensor<float, batch<batches>, head<Heads>, query<queries>, head_dim<Dim>> q;
  tensor<float, batch<batches>, kv_head<KvHeads>, key<keys>, head_dim<Dim>> k;
  tensor<float, batch<batches>, kv_head<KvHeads>, key<keys>, value_dim<Dim>> v;
  tensor<float, batch<batches>, head<Heads>, query<queries>, value_dim<Dim>> output;
  tensor<float, batch<batches>, head<Heads>, query<queries>> lse;
  call_data() {
    fill(q, 0.37f);
    fill(k, 0.73f);
    fill(v, 0.11f);
  }
  std::vector<float> written() const {
    std::vector<float> all(output.begin(), output.end());
    all.insert(all.end(), lse.begin(), lse.end());
    return all;
  }
};

inline status run_causal(call_data<12, 12, 64> &d, target_id target) {
  call_options options;
  options.target = target;
  return kernel<causal>{}.try_call(d.q, d.k, d.v, d.output, d.lse, options);
}
inline status run_grouped(call_data<32, 8, 128> &d, target_id target) {
  call_options options;
  options.target = target;
  return kernel<grouped>{}.try_call(d.q, d.k, d.v, d.output, options);
}

} // namespace gpu_call

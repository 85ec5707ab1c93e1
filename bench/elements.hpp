// Elements of benchmark tensors in memory, and what is filled into them.
#pragma once
#include "generated/check_tensor.hpp"
#include "runtime/element.hpp"
#include <algorithm>
#include <vector>

namespace attune::bench {

inline float load(const char *data, element_type e, std::int64_t i) {
  if (e == element_type::bf16) return static_cast<float>(reinterpret_cast<const bf16_t *>(data)[i]);
  if (e == element_type::f16) return static_cast<float>(reinterpret_cast<const f16_t *>(data)[i]);
  return reinterpret_cast<const float *>(data)[i];
}
inline void store(char *data, element_type e, std::int64_t i, float x) {
  if (e == element_type::bf16) reinterpret_cast<bf16_t *>(data)[i] = bf16_t(x);
  else if (e == element_type::f16) reinterpret_cast<f16_t *>(data)[i] = f16_t(x);
  else reinterpret_cast<float *>(data)[i] = x;
}

inline std::vector<float> all_of(const char *data, element_type e, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = load(data, e, i);
  return values;
}

/// N(0,1). A tensor of 100 million elements is filled from a period of a million, which is prime, so that no two rows are alike.
inline void fill_normal(char *data, element_type e, std::int64_t count, std::uint64_t seed) {
  constexpr std::int64_t period = 1'000'003;
  std::vector<float> values(static_cast<std::size_t>(std::min(count, period)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(normal_value(seed, i));
  for (std::int64_t i = 0; i < count; ++i) store(data, e, i, values[static_cast<std::size_t>(i % period)]);
}

} // namespace attune::bench

// Elements of benchmark tensors in memory, and what is filled into them.
#pragma once
#include "generated/check_tensor.hpp"
#include "runtime/element.hpp"
#include <algorithm>
#include <cmath>
#include <vector>

namespace attune::bench {

/// Calls f with a pointer to the elements' type.
template <class F> void with_elements(char *data, element_type e, F f) {
  if (e == element_type::int8) f(reinterpret_cast<std::int8_t *>(data));
  else if (e == element_type::e4m3) f(reinterpret_cast<f8_e4m3_t *>(data));
  else if (e == element_type::e5m2) f(reinterpret_cast<f8_e5m2_t *>(data));
  else with_float(e, [&](auto like) { f(reinterpret_cast<decltype(like) *>(data)); });
}

/// One number of int8 for each 1/32: N(0,1) lies within its range.
inline constexpr float int8_step = 1.0f / 32;

inline float load(const char *data, element_type e, std::int64_t i) {
  float x = 0;
  with_elements(const_cast<char *>(data), e, [&](auto *elements) { x = static_cast<float>(elements[i]); });
  return x;
}
inline void store(char *data, element_type e, std::int64_t i, float x) {
  if (e == element_type::int8) x = std::nearbyint(std::clamp(x / int8_step, -127.0f, 127.0f));
  with_elements(data, e, [&](auto *elements) { elements[i] = static_cast<std::remove_reference_t<decltype(*elements)>>(x); });
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

// What the CPU schedules share: lanes of vectors, and rules that their points obey.
#pragma once
#include "dsl/targets.hpp"
#include <algorithm>
#include <cstdint>
#include <string>

namespace attune {

inline int f32_lanes(const target_info &t) { return t.vector_bytes / 4; }

/// Vector lanes for an axis of this extent: the widest power of two that divides it, at most `widest`.
inline int lanes_for(int extent, int widest) {
  int lanes = widest;
  while (extent % lanes != 0) lanes /= 2;
  return lanes;
}

/// The largest divisor of a number that is not above `most`.
inline int divisor_of(int number, int most) {
  int n = std::min(number, most);
  while (number % n != 0) --n;
  return n;
}

/// How many steps of a loop over vectors to unroll: all if they are few, else so many that they divide them. Code for dims of heads
/// that no vector divides would take minutes to compile.
inline int unrolled(int steps) { return divisor_of(steps, 16); }

/// Each rule: why it is broken, in one sentence; empty if it holds.
inline std::string in_range(const std::string &name, int value) {
  constexpr int most = 65'536; // beyond all use; other rules multiply values, and Halide allocates less than 2^31 bytes
  const std::string given = name + " (" + std::to_string(value) + ") must be ";
  if (value < 1) return given + "at least 1";
  return value <= most ? "" : given + "at most " + std::to_string(most) + ", since tiles and chunks are computed in scratch of each thread";
}
inline std::string divides(const std::string &small, int small_value, const std::string &large, int large_value) {
  if (small_value > 0 && large_value > 0 && large_value % small_value == 0) return "";
  return small + " (" + std::to_string(small_value) + ") must divide " + large + " (" + std::to_string(large_value) + "), both at least 1";
}
inline std::string fits_registers(const std::string &what, int rows, int columns, const target_info &target) {
  const std::int64_t accumulators = std::int64_t{rows} * columns;
  if (accumulators < target.vector_registers) return "";
  return what + " needs " + std::to_string(accumulators) + " accumulators, and " + target.name + " has " + std::to_string(target.vector_registers) +
         " vector registers in all";
}
/// Scores that stay until their weighted sum is done; `queries`: of all heads that are computed together.
inline std::string fits_scratch(int queries, int keys) {
  constexpr std::int64_t most_bytes = 8 << 20;
  const std::int64_t bytes = std::int64_t{4} * queries * keys;
  if (bytes <= most_bytes) return "";
  return "scores of " + std::to_string(queries) + " queries and " + std::to_string(keys) + " keys at a time would take " + std::to_string(bytes >> 10) +
         " KiB of each thread's scratch, and " + std::to_string(most_bytes >> 10) + " KiB is the most";
}

} // namespace attune

// What the CPU schedules share: lanes of vectors, and rules that their points obey.
#pragma once
#include "dsl/targets.hpp"
#include <algorithm>
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
inline std::string positive(const std::string &name, int value) {
  return value > 0 ? "" : name + " (" + std::to_string(value) + ") must be at least 1";
}
inline std::string divides(const std::string &small, int small_value, const std::string &large, int large_value) {
  if (small_value > 0 && large_value > 0 && large_value % small_value == 0) return "";
  return small + " (" + std::to_string(small_value) + ") must divide " + large + " (" + std::to_string(large_value) + "), both at least 1";
}
inline std::string fits_registers(const std::string &what, int accumulators, const target_info &target) {
  if (accumulators < target.vector_registers) return "";
  return what + " needs " + std::to_string(accumulators) + " accumulators, and " + target.name + " has " + std::to_string(target.vector_registers) +
         " vector registers in all";
}

} // namespace attune

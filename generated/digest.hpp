// FNV-1a, 64 bit: tells apart what an emission was made from. Not a defence against anybody.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace attune {

inline constexpr std::uint64_t fnv_start = 0xcbf29ce484222325u;

constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t state = fnv_start) {
  for (const char byte : bytes) state = (state ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return state;
}

/// 16 hexadecimal digits.
std::string hexadecimal(std::uint64_t value);

/// The digest of the shared library that holds pipeline, schedules and emitter: whatever changes there, changes it.
const std::string &generator_digest();

} // namespace attune

// How AMX's eight tile registers are used: all of them 16 rows of 64 bytes. (Intel 64 and IA-32 Architectures Software Developer's
// Manual, volume 1, chapter 18: palette 1.)
#pragma once
#include <cstdint>

namespace attune::tiles {

constexpr int rows = 16, row_bytes = 64; ///< of each register: 16 f32, or 16 pairs of bf16

struct alignas(64) configuration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {row_bytes, row_bytes, row_bytes, row_bytes, row_bytes, row_bytes, row_bytes, row_bytes};
  std::uint8_t row_count[16] = {rows, rows, rows, rows, rows, rows, rows, rows};
};

} // namespace attune::tiles

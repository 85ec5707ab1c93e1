// What generated code calls for products by tiles of bf16 (AMX): compiled into emitted libraries by runtime/halide_hooks.cpp, x86 only.
#pragma once
#include "runtime/tile_configuration.hpp"
#include <immintrin.h>

namespace attune::tiles {

/// Rows of a matrix: where the first begins, how far it is to the next row and to what the next step multiplies, in bytes.
struct operand {
  const char *begin;
  std::int64_t row, step;
};

/// c of Rows x Columns tiles. Registers 0 to 3 are sums, 4 and 5 rows of a, 6 and 7 rows of b: their numbers are in the instructions.
template <int Rows, int Columns>
__attribute__((target("amx-tile,amx-bf16"), always_inline)) inline void products(operand a, operand b, char *c, std::int64_t c_row, int pair_tiles, int steps, bool accumulate) {
  const std::int64_t below = rows * c_row;
  if (accumulate) {
    _tile_loadd(0, c, c_row);
    if constexpr (Columns > 1) _tile_loadd(1, c + row_bytes, c_row);
    if constexpr (Rows > 1) _tile_loadd(2, c + below, c_row);
    if constexpr (Rows > 1 && Columns > 1) _tile_loadd(3, c + below + row_bytes, c_row);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int s = 0; s < steps; ++s) {
    const char *a_at = a.begin + s * a.step, *b_at = b.begin + s * b.step;
    for (int p = 0; p < pair_tiles; ++p, a_at += row_bytes, b_at += rows * b.row) {
      _tile_loadd(4, a_at, a.row);
      _tile_loadd(6, b_at, b.row);
      _tile_dpbf16ps(0, 4, 6);
      if constexpr (Columns > 1) {
        _tile_loadd(7, b_at + row_bytes, b.row);
        _tile_dpbf16ps(1, 4, 7);
      }
      if constexpr (Rows > 1) {
        _tile_loadd(5, a_at + rows * a.row, a.row);
        _tile_dpbf16ps(2, 5, 6);
        if constexpr (Columns > 1) _tile_dpbf16ps(3, 5, 7);
      }
    }
  }
  _tile_stored(0, c, c_row);
  if constexpr (Columns > 1) _tile_stored(1, c + row_bytes, c_row);
  if constexpr (Rows > 1) _tile_stored(2, c + below, c_row);
  if constexpr (Rows > 1 && Columns > 1) _tile_stored(3, c + below + row_bytes, c_row);
}

/// c of any number of tiles, four at a time.
__attribute__((target("amx-tile,amx-bf16"), always_inline)) inline void matrix_product(operand a, operand b, char *c, std::int64_t c_row, int c_rows, int c_columns, int pair_tiles, int steps,
                                                                                    bool accumulate) {
  for (int column = 0; column < c_columns;) {
    const bool wide = c_columns - column > rows;
    const operand right{b.begin + column * 4, b.row, b.step};
    for (int row = 0; row < c_rows;) {
      const bool tall = c_rows - row > rows;
      const operand left{a.begin + row * a.row, a.row, a.step};
      char *const sum = c + row * c_row + column * 4;
      if (tall && wide) products<2, 2>(left, right, sum, c_row, pair_tiles, steps, accumulate);
      else if (tall) products<2, 1>(left, right, sum, c_row, pair_tiles, steps, accumulate);
      else if (wide) products<1, 2>(left, right, sum, c_row, pair_tiles, steps, accumulate);
      else products<1, 1>(left, right, sum, c_row, pair_tiles, steps, accumulate);
      row += tall ? 2 * rows : rows;
    }
    column += wide ? 2 * rows : rows;
  }
}

} // namespace attune::tiles

/// Generated code calls this once in each task, since it takes 70 ns (Granite Rapids); nothing else in a task uses tiles.
extern "C" int attune_configure_tiles();
extern "C" __attribute__((target("amx-tile"))) int attune_configure_tiles() {
  static constexpr attune::tiles::configuration all;
  _tile_loadconfig(&all);
  return 0;
}

/// So that the system need not save tiles for a thread that is done with them.
extern "C" int attune_release_tiles();
extern "C" __attribute__((target("amx-tile"))) int attune_release_tiles() {
  _tile_release();
  return 0;
}

/// From `a`, 16 rows of 32-bit words, `a_row` bytes apart, to their columns: row `i` of `b`, b_row bytes apart, is column i. `columns` is a
/// multiple of 16. Four steps of exchanges between registers for each 16 x 16 words: 64 shuffles, where loading columns takes 256 moves.
extern "C" int attune_transpose_pairs(const char *a, std::int64_t a_offset, std::int64_t a_row, char *b, std::int64_t b_offset, std::int64_t b_row, std::int32_t columns);
extern "C" __attribute__((target("avx512f"))) int attune_transpose_pairs(const char *a, std::int64_t a_offset, std::int64_t a_row, char *b, std::int64_t b_offset,
                                                                         std::int64_t b_row, std::int32_t columns) {
  typedef std::int32_t words __attribute__((vector_size(64)));
  typedef words stored_words __attribute__((aligned(4), may_alias));
  for (std::int32_t column = 0; column < columns; column += 16) {
    words x[16], y[16];
    for (int r = 0; r < 16; ++r) x[r] = *reinterpret_cast<const stored_words *>(a + a_offset + r * a_row + 4 * column);
    for (int r = 0; r < 16; r += 2) { // the words of two rows, one beside the other
      y[r] = __builtin_shufflevector(x[r], x[r + 1], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
      y[r + 1] = __builtin_shufflevector(x[r], x[r + 1], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    }
    for (int r = 0; r < 16; r += 4) // of four rows: x[r + i] has the columns i, i + 4, i + 8 and i + 12
      for (int i = 0; i < 2; ++i) {
        x[r + 2 * i] = __builtin_shufflevector(y[r + i], y[r + 2 + i], 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
        x[r + 2 * i + 1] = __builtin_shufflevector(y[r + i], y[r + 2 + i], 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
      }
    for (int i = 0; i < 4; ++i) // of eight rows: y[i] has the columns i and i + 8, y[i + 4] the columns i + 4 and i + 12
      for (int half = 0; half < 16; half += 8) {
        y[half + i] = __builtin_shufflevector(x[half + i], x[half + 4 + i], 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
        y[half + 4 + i] = __builtin_shufflevector(x[half + i], x[half + 4 + i], 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
      }
    char *const to = b + b_offset + column * b_row;
    for (int i = 0; i < 8; ++i) {
      *reinterpret_cast<stored_words *>(to + i * b_row) = __builtin_shufflevector(y[i], y[8 + i], 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
      *reinterpret_cast<stored_words *>(to + (8 + i) * b_row) = __builtin_shufflevector(y[i], y[8 + i], 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
    }
  }
  return 0;
}

/// c[row, column] = (accumulate: c[row, column]) + sum over steps and pairs of a[row, pair] . b[pair, column], a pair being two bf16:
/// `rows` x `columns` f32, both multiples of 16, and `pair_tiles` times 16 pairs in each step. Offsets and strides are in bytes.
extern "C" int attune_tile_products(const char *a, std::int64_t a_offset, std::int64_t a_row, std::int64_t a_step, const char *b, std::int64_t b_offset, std::int64_t b_row,
                                    std::int64_t b_step, char *c, std::int64_t c_offset, std::int64_t c_row, std::int32_t rows, std::int32_t columns, std::int32_t pair_tiles,
                                    std::int32_t steps, std::int32_t accumulate);
extern "C" __attribute__((target("amx-tile,amx-bf16"))) int attune_tile_products(const char *a, std::int64_t a_offset, std::int64_t a_row, std::int64_t a_step, const char *b,
                                                                                 std::int64_t b_offset, std::int64_t b_row, std::int64_t b_step, char *c, std::int64_t c_offset,
                                                                                 std::int64_t c_row, std::int32_t rows, std::int32_t columns, std::int32_t pair_tiles,
                                                                                 std::int32_t steps, std::int32_t accumulate) {
  constexpr int most_pairs = 8; // tiles of pairs at a time, so that what several rows multiply with stays in the first cache
  attune::tiles::operand left{a + a_offset, a_row, a_step}, right{b + b_offset, b_row, b_step};
  for (std::int32_t pair = 0; pair < pair_tiles; pair += most_pairs) {
    const std::int32_t pairs = pair_tiles - pair < most_pairs ? pair_tiles - pair : most_pairs;
    attune::tiles::matrix_product(left, right, c + c_offset, c_row, rows, columns, pairs, steps, accumulate != 0 || pair > 0);
    left.begin += pairs * attune::tiles::row_bytes, right.begin += pairs * attune::tiles::rows * b_row;
  }
  return 0;
}

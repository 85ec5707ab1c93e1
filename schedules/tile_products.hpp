// Sums of products over pairs of bf16 by the tile registers of AMX: a lowering pass. Halide 21 keeps one such tile at a time, and LLVM 21
// fails on sums of several that pass from one block of code to another, so that loops over tiles are in runtime/tile_products.hpp.
#pragma once
#include "Halide.h"
#include <string>
#include <vector>

namespace attune {

/// A tile of sums is 16 x 16 f32; a step adds 16 pairs of bf16 to each.
constexpr int tile_rows = 16, tile_columns = 16, tile_pairs = 16;

/// Funcs, by their names.
struct tiled_funcs {
  /// c[row, column] += a[row, 2 pair + half] * b[half, column, pair], c being 0 before. Loops are serial: half, then column, row and pair
  /// in whole tiles, then any other sums, innermost first.
  std::vector<std::string> products;
  /// 16 pairs that are rows become columns: c[half, pair, row] = half of a[row, pair]. Loops are serial: half, pair, row.
  std::vector<std::string> transposed;

  tiled_funcs &operator+=(const tiled_funcs &more) {
    products.insert(products.end(), more.products.begin(), more.products.end());
    transposed.insert(transposed.end(), more.transposed.begin(), more.transposed.end());
    return *this;
  }
};

/// Puts calls of runtime/tile_products.hpp where these Funcs' loops are.
class tile_products final : public Halide::Internal::IRMutator {
public:
  explicit tile_products(tiled_funcs funcs) : funcs_(std::move(funcs)) {}

private:
  using Halide::Internal::IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Block *) override;
  Halide::Internal::Stmt visit(const Halide::Internal::For *) override;
  Halide::Internal::Stmt task(const Halide::Internal::For *);

  tiled_funcs funcs_;
  bool in_task_ = false, has_tiles_ = false; ///< of the innermost parallel loop around: that there is one, that it multiplies by tiles
};

} // namespace attune

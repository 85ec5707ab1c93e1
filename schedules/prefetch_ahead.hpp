// Software prefetch of rows that a later step of a loop loads. Halide's own directive prefetches the box that a step touches: behind a page
// table that is the whole cache, and with several streams all that lies between them.
#pragma once
#include "Halide.h"

namespace attune {

enum class cache_level { first = 3, second = 2 }; ///< as llvm.prefetch counts locality

/// Rows of `tensor`: each step of loop `step` loads `rows` of them, side by side, `stride` elements apart. Asked for are those that it
/// will load `blocks` steps of the enclosing loop `block` later, and of those the ones `rows_on` rows on.
struct rows_ahead {
  std::string tensor, block, step;
  int blocks, rows_on, rows, bytes;
  Halide::Expr stride;
  cache_level into;
};

/// A lowering pass: at the beginning of each step the rows' cache lines are asked for. Inline: a function's call
/// would push the vector registers to memory (32:8 heads of 128, pages of 16 keys, f32, 8,192 keys, one Xeon core: 7.8 GB/s, 6.9 by a call).
class prefetch_ahead final : public Halide::Internal::IRMutator {
public:
  explicit prefetch_ahead(rows_ahead what) : what_(std::move(what)) {}

private:
  using Halide::Internal::IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *) override;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt *) override;
  Halide::Internal::Stmt fetch(const Halide::Internal::Stmt &body) const;

  const rows_ahead what_;
  std::string variable_;                     ///< of the loop over blocks, inside it; else empty
  Halide::Expr later_;                       ///< its value some steps ahead
  std::map<std::string, Halide::Expr> lets_; ///< inside it, in terms of what stands outside
};

} // namespace attune

// Whether a tile of the score matrix is empty, full or partly masked: interval analysis of the mask over the tile.
//
// What the mask reads from tensors is known only at the call. A read at indices that depend on query or key takes, over a tile, the
// values of a small box of the tensor; their range [least, greatest] is computed at the call by a reduction over that box, and stands
// in the analysis for the read. One way for all: documents, tables over blocks, boolean and additive masks (read as: attends or
// not), and inputs that functions read.
#pragma once
#include "dsl/pipeline/mask.hpp"

namespace attune {

enum tile_class { empty_tile = 0, partial_tile = 1, full_tile = 2 };

class tile_classifier {
public:
  /// For tiles of `queries` queries (a strip) and `keys` keys (a block), the first of which are query 0 and key 0.
  tile_classifier(const operator_description &, const call_arguments &, const Halide::Expr &queries, int keys);

  /// The class of a tile; i32. Sound: a tile is called empty or full only if it is.
  Halide::Expr operator()(const Halide::Expr &strip, const Halide::Expr &block, const Halide::Expr &head, const Halide::Expr &batch) const;

  /// Ranges of reads that depend on query and key are computed in this loop of the Func that looks at the classes; others once for the
  /// whole call.
  void compute_ranges_at(const Halide::Func &, const Halide::Var &);

private:
  Halide::Var strip{"strip"}, tile_block{"tile_block"}, head{"mask_head"}, batch{"mask_batch"};
  Halide::Expr class_of_tile;
  std::vector<Halide::Func> of_both; ///< ranges that depend on strip and block

  struct analysis;
};

} // namespace attune

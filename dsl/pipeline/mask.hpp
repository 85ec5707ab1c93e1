// The mask stage: which keys a query may attend to, as a condition, as limits of loops, and as a class per tile.
#pragma once
#include "dsl/pipeline/call_arguments.hpp"

namespace attune {

/// Whether causal, window and lengths are the only masks: then limits of key loops say all.
bool is_affine(const operator_description &);

/// Every mask of the spec in one condition. Keys past the batch's length are masked as well.
Halide::Expr allowed(const operator_description &, const call_arguments &, const position_expr &);

/// The value of a boolean or additive mask tensor at a position; axes that it lacks are broadcast.
Halide::Expr mask_tensor(const operator_description &, const call_arguments &, int input, const position_expr &);

/// Keys of this batch: the extent of the key tensor, or less by key_lengths.
Halide::Expr key_count_of(const operator_description &, const call_arguments &, Halide::Expr batch);

/// Keys [begin, end) that the causal, window and length masks leave to at least one of the queries first..last, and keys
/// [full_begin, full_end) that they leave to all of them.
struct key_limits {
  Halide::Expr begin, end, full_begin, full_end;
};
key_limits limits_of(const operator_description &, const call_arguments &, Halide::Expr first_query, Halide::Expr last_query, Halide::Expr batch);

/// What a tile of the score matrix needs.
enum tile_class { empty_tile = 0, partial_tile = 1, full_tile = 2 };

/// The class of the tile of queries first_query..last_query and keys first_key..first_key + keys - 1, derived by interval
/// analysis of the mask; i32. Sound: a tile is called empty or full only if it is. A mask that reads a tensor is partial.
Halide::Expr classify_tile(const operator_description &, const call_arguments &, Halide::Expr first_query, Halide::Expr last_query,
                           Halide::Expr first_key, int keys, Halide::Expr head, Halide::Expr batch);

} // namespace attune

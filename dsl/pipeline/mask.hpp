// The mask stage: which keys a query may attend to, as a condition and as limits of loops; tile_classifier.hpp derives the class of a tile.
#pragma once
#include "dsl/pipeline/call_arguments.hpp"

namespace attune {

/// Where a query stands among the keys: the position that causal and windows are measured from.
Halide::Expr query_position(const operator_description &, const call_arguments &, Halide::Expr query, Halide::Expr batch);

/// Whether causal, prefix, windows, documents by offsets and lengths are the only masks: then limits of key loops say all.
bool is_affine(const operator_description &);

/// How a mask reads its inputs: what a function reads, and whether a boolean or additive mask attends.
struct mask_reads {
  input_reader value, attends;
  std::function<Halide::Expr(const Halide::Func &, const Halide::Expr &query)> of_row; ///< of what packed_rows knows of a query
};
/// Each read as a load. The first: indices within the extents; the second brings them there.
mask_reads reads_of(const operator_description &, const call_arguments &);
mask_reads clamped_reads_of(const operator_description &, const call_arguments &);

/// A place with all that functions see of it.
position_expr place_of(const operator_description &, const call_arguments &, const position_expr &, const mask_reads &);

/// Every mask of the spec in one condition. Keys past the batch's length are masked as well.
Halide::Expr allowed(const operator_description &, const call_arguments &, const position_expr &);
Halide::Expr allowed(const operator_description &, const call_arguments &, const position_expr &, const mask_reads &);

/// The value of a boolean or additive mask tensor at a position; axes that it lacks are broadcast.
Halide::Expr mask_tensor(const operator_description &, const call_arguments &, int input, const position_expr &);

/// Keys of this batch: the extent of the key tensor, or less by key_lengths.
Halide::Expr key_count_of(const operator_description &, const call_arguments &, Halide::Expr batch);

/// Whether some query may begin behind the first key; and whether limits leave it fewer keys than the batch has.
bool begins_late(const operator_description &);
bool is_trimmed(const operator_description &);

/// Keys [begin, end) that these masks leave to at least one of the queries first..last, and keys
/// [full_begin, full_end) that they leave to all of them.
struct key_limits {
  Halide::Expr begin, end, full_begin, full_end;
};
key_limits limits_of(const operator_description &, const call_arguments &, Halide::Expr first_query, Halide::Expr last_query, Halide::Expr batch);

} // namespace attune

// The rope stage: queries and keys turn with their positions on their way from the source to the scores.
//
// Of the first `dims` features of a head, x_a and x_b of a pair at position p become x_a cos - x_b sin and x_b cos + x_a sin of the
// angle p theta^(-2 i / dims) (Su et al., RoFormer, 2021); the features behind `dims` stay. Computed in f32, and rounded to the
// spec's element, as a stored tensor is.
#pragma once
#include "dsl/pipeline/blocked_attention.hpp"
#include "dsl/pipeline/element.hpp"

namespace attune {

/// Why no target can turn the spec's queries and keys, in one sentence; empty if they can be.
std::string rotary_why_not(const operator_description &);

/// How a target reads and rounds stored elements.
struct element_conversion {
  std::function<Halide::Expr(Halide::Expr, element_type)> load = load_f32, store = store_as;
};

struct rotary_source {
  /// For a spec with a rope stage.
  rotary_source(const operator_description &, const call_arguments &, const attention_source &, const element_conversion & = {});

  /// What the source gives, rotated. The query is to be computed where it is read; the key is read by every tile of queries.
  attention_source rotated;
  /// Cosine and sine (pair, row, batch), each computed once for all heads; the same for all batches unless positions depend on them.
  /// A row is a place among the keys; where keys come rotated, a query. Not defined where the call gives the tables.
  Halide::Func angles{"rotary_angles"};
  /// What turn_fractions knows of a pair (pair), where angles are defined: for kernels that cannot hold a table of constants.
  Halide::Func turns{"rotary_turns"};

private:
  const operator_description &op;
  const call_arguments &args;
  const element_conversion convert;

  /// Where a query stands among the keys, within known bounds.
  Halide::Expr place_of_query(const Halide::Expr &query, const Halide::Expr &batch) const;
  /// Positions of the rows of `angles`.
  Halide::Expr position_of(const Halide::Expr &row, const Halide::Expr &batch) const;
  bool depends_on_batch() const;
  void define_angles();
  std::pair<Halide::Expr, Halide::Expr> angle_at(const Halide::Expr &pair, const Halide::Expr &row, const Halide::Expr &batch) const;
  /// A feature of `stored`, a query or a key, turned by the angles of `row`.
  using stored_features = std::function<Halide::Expr(const Halide::Expr &feature)>;
  Halide::Expr rotate(const stored_features &, element_type, const Halide::Expr &feature, const Halide::Expr &row, const Halide::Expr &batch) const;
};

} // namespace attune

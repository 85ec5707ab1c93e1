// The scores stage: what happens to a dot product of query and key before the softmax. Scores leave this stage in base 2:
// log2(e) is folded in, so that the softmax needs only 2^x.
#pragma once
#include "dsl/pipeline/call_arguments.hpp"

namespace attune {

/// What each query is multiplied by before the dot products: the scale, and log2(e) too where nothing stands between the
/// dot product and the softmax.
Halide::Expr query_factor(const operator_description &, const call_arguments &);

/// A dot product of query and stored key as one of query and key: times the key's scale, where keys are stored with one.
Halide::Expr dot_of_key(const operator_description &, const call_arguments &, Halide::Expr dot, const position_expr &);

/// A weight as a factor of the stored value: times the value's scale, where values are stored with one.
Halide::Expr weight_of_stored(const operator_description &, const call_arguments &, Halide::Expr weight, Halide::Expr key, Halide::Expr kv_head, Halide::Expr batch);

/// Additive masks below this count as this, except -inf, which masks: rows of huge negative scores stay rows of equal scores.
inline constexpr float lowest_additive_mask = -6e29f;

/// A score on its way, in natural units: after the scale, after the softcap, and after score functions and additive masks.
struct score_steps {
  Halide::Expr scaled, capped, complete;
};
/// From a dot product of query * query_factor and key.
score_steps steps_of_score(const operator_description &, const call_arguments &, const Halide::Expr &dot, const position_expr &);

/// The same as a base-2 score: softcap, the user's score functions in order, additive masks; and sigmoid's bias.
Halide::Expr base2_score(const operator_description &, const call_arguments &, Halide::Expr dot, const position_expr &);

/// A head's sink as a base-2 score: what the maximum of its rows starts from. no_score (softmax.hpp) where there is none or it is -inf.
Halide::Expr sink_score(const operator_description &, const call_arguments &, const Halide::Expr &head);

} // namespace attune

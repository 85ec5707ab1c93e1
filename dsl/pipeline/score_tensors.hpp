// What stands between query . key and the weighted sum, for those who look at it: attention weights and scores as tensors, computed
// anew for every key. Weights come from these scores' own maximum and sum, so that each row of them sums to 1: products may be added up
// in another order here than in the weighted sum, and next to a score of 1e8 the last digit of an f32 is 8.
#pragma once
#include "dsl/pipeline/blocked_attention.hpp"

namespace attune {

struct score_tensors {
  /// Vectors of `lanes` keys.
  score_tensors(const operator_description &, const call_arguments &, const attention_source &, int lanes);
  /// One row at a time, rows in parallel.
  void schedule();

  Halide::Var k{"k"}, q{"q"}, h{"h"}, b{"b"}, u{"u"}; ///< u: lane of a vector of keys
  Halide::Func dot{"score_dot"};
  Halide::Func result{"score_tensors"}; ///< f32 (k, q, h, b): a Tuple of what the spec returns, in the signature's order

private:
  void define_softmax(const operator_description &, const call_arguments &, const Halide::Expr &score);

  Halide::Func row_scores{"row_scores"}, row_weights{"row_weights"};       ///< f32 (k, q, h, b): in base 2; 2^(score - maximum). For weights of a softmax
  Halide::Func lane_maximum{"row_lane_maximum"}, lane_total{"row_lane_total"}; ///< f32 (u, q, h, b)
  Halide::Func row_maximum{"row_maximum"}, row_total{"row_total"};         ///< f32 (q, h, b): in base 2; sum of the weights
  Halide::RDom features, whole_vectors, across, rest;
  int lanes;
};

} // namespace attune

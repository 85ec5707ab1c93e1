// What stands between query . key and the weighted sum, for those who look at it: attention weights and scores as tensors, computed
// anew for every key. Weights come from the scores and each row's maximum and sum. (From log-sum-exp they would lose digits: next
// to a score of 1e5 an f32 has none behind the second.)
#pragma once
#include "dsl/pipeline/blocked_attention.hpp"

namespace attune {

struct score_tensors {
  /// `row_state`: f32 (q, h, b), stored: the largest score in base 2, and the sum of 2^(score - maximum). Needed for weights of a softmax.
  score_tensors(const operator_description &, const call_arguments &, const attention_source &, const Halide::Func &row_state);

  Halide::Var k{"k"}, q{"q"}, h{"h"}, b{"b"};
  Halide::Func dot{"score_dot"};
  Halide::Func result{"score_tensors"}; ///< f32 (k, q, h, b): a Tuple of what the spec returns, in the signature's order
  Halide::RDom features;
};

} // namespace attune

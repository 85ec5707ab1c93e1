// The attention weights themselves, for those who look at them: recomputed from the scores and each row's maximum and sum. (From
// log-sum-exp they would lose digits: next to a score of 1e5 an f32 has none behind the second.)
#pragma once
#include "dsl/pipeline/blocked_attention.hpp"

namespace attune {

struct attention_weights {
  /// `maximum`, `total`: f32 (q, h, b), stored: the largest score in base 2, and the sum of 2^(score - maximum).
  attention_weights(const operator_description &, const call_arguments &, const attention_source &, Halide::Func maximum, Halide::Func total);

  Halide::Var k{"k"}, q{"q"}, h{"h"}, b{"b"};
  Halide::Func dot{"weight_dot"}, result{"attention_weights_tensor"}; ///< f32 (k, q, h, b); 0 where masked
  Halide::RDom features;
};

} // namespace attune

// The attention weights themselves, for those who look at them: recomputed from the scores and the log-sum-exp of each row.
#pragma once
#include "dsl/pipeline/blocked_attention.hpp"

namespace attune {

struct attention_weights {
  /// `lse`: f32 (q, h, b), natural log, stored.
  attention_weights(const operator_description &, const call_arguments &, const attention_source &, Halide::Func lse);

  Halide::Var k{"k"}, q{"q"}, h{"h"}, b{"b"};
  Halide::Func dot{"weight_dot"}, result{"attention_weights_tensor"}; ///< f32 (k, q, h, b); 0 where masked
  Halide::RDom features;
};

} // namespace attune

// The worked examples of two introductory articles on self-attention, run by examples/walkthrough.
#pragma once
#include "dsl/spec.hpp"

namespace attune::stock {

/// First article: a sentence of six words, embeddings of 3 features, one head with d_qk = 2 and d_v = 4, no output
/// projection. The article prints weights and context vectors.
struct article1_self_attention {
  static constexpr auto spec =
      project(model_dim<3>, heads<1>, head_dim<2>, value_dim<4>, element<f32>)
    | scores(scale<rsqrt_head_dim>)
    | softmax()
    | weighted_sum(returns<weights>);
};

/// Second article: one head of 16 on 64 features, with a mask tensor (true: attend).
struct article2_single_head {
  static constexpr auto spec =
      project(model_dim<64>, heads<1>, head_dim<16>, element<f32>)
    | mask(boolean<axis::query, axis::key>)
    | softmax()
    | weighted_sum(returns<weights>);
};

/// Second article: the same head, causal.
struct article2_single_head_causal {
  static constexpr auto spec =
      project(model_dim<64>, heads<1>, head_dim<16>, element<f32>)
    | mask(causal<>)
    | softmax()
    | weighted_sum(returns<weights>);
};

/// Second article: four heads of 16, causal, with output projection, no biases.
struct article2_multi_head {
  static constexpr auto spec =
      project(model_dim<64>, heads<4>, head_dim<16>, element<f32>)
    | mask(causal<>)
    | softmax()
    | weighted_sum(returns<weights>)
    | project_out();
};

} // namespace attune::stock

// Written by combinations.py: specs that combine features, so that every two features meet in at least one of them.
#pragma once
#include "dsl/spec.hpp"

namespace combinations {
using namespace attune;

struct slope {};

struct causal_window_lengths_boolean_additive_alibi {
  static constexpr auto spec = operands(heads<4>, head_dim<16>, element<f32>, input<slope>(f32, axis::head))
                             | scores([](auto s, auto at) { return s - at(slope{}, at.head) / 512 * (at.query - at.key); })
                             | mask(causal<align::bottom_right>, sliding_window<19>, key_lengths, boolean<axis::batch, axis::query, axis::key>, additive<axis::head, axis::query, axis::key>)
                             | softmax()
                             | weighted_sum();
};
struct additive_softcap_rope_gqa_value_dim_paged {
  static constexpr auto spec = operands(heads<4>, head_dim<16>, element<f32>, kv_heads<2>, value_dim<24>, paged<16>)
                             | rope(theta<10000>, keys_rotated)
                             | scores(softcap<3>)
                             | mask(additive<axis::head, axis::query, axis::key>)
                             | softmax()
                             | weighted_sum();
};
struct causal_window_additive_softcap_rope_lse {
  static constexpr auto spec = operands(heads<4>, head_dim<16>, element<f32>)
                             | rope(theta<10000>)
                             | scores(softcap<3>)
                             | mask(causal<align::bottom_right>, sliding_window<19>, additive<axis::head, axis::query, axis::key>)
                             | softmax()
                             | weighted_sum(returns<lse>);
};
struct lengths_boolean_alibi_gqa_value_dim_lse {
  static constexpr auto spec = operands(heads<4>, head_dim<16>, element<f32>, input<slope>(f32, axis::head), kv_heads<2>, value_dim<24>)
                             | scores([](auto s, auto at) { return s - at(slope{}, at.head) / 512 * (at.query - at.key); })
                             | mask(key_lengths, boolean<axis::batch, axis::query, axis::key>)
                             | softmax()
                             | weighted_sum(returns<lse>);
};
struct causal_window_alibi_gqa_value_dim_paged {
  static constexpr auto spec = operands(heads<4>, head_dim<16>, element<f32>, input<slope>(f32, axis::head), kv_heads<2>, value_dim<24>, paged<16>)
                             | scores([](auto s, auto at) { return s - at(slope{}, at.head) / 512 * (at.query - at.key); })
                             | mask(causal<align::bottom_right>, sliding_window<19>)
                             | softmax()
                             | weighted_sum();
};
struct lengths_boolean_softcap_alibi_rope_paged {
  static constexpr auto spec = operands(heads<4>, head_dim<16>, element<f32>, input<slope>(f32, axis::head), paged<16>)
                             | rope(theta<10000>, keys_rotated)
                             | scores(softcap<3>, [](auto s, auto at) { return s - at(slope{}, at.head) / 512 * (at.query - at.key); })
                             | mask(key_lengths, boolean<axis::batch, axis::query, axis::key>)
                             | softmax()
                             | weighted_sum();
};
struct paged_lse {
  static constexpr auto spec = operands(heads<4>, head_dim<16>, element<f32>, paged<16>)
                             | scores()
                             | mask()
                             | softmax()
                             | weighted_sum(returns<lse>);
};

} // namespace combinations

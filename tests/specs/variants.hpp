// Small specs, one for each thing that a spec can say. Extents are chosen to fit no vector and no tile.
#pragma once
#include "dsl/spec.hpp"

namespace variants {
using namespace attune;

// Heads and dims.
struct mqa { static constexpr auto spec = attention(heads<6>, kv_heads<1>, head_dim<64>, element<f32>, returns<lse>); };
struct gqa_causal { static constexpr auto spec = attention(heads<6>, kv_heads<2>, head_dim<40>, element<f32>, causal<align::bottom_right>, returns<lse>); };
struct head_dim_1 { static constexpr auto spec = attention(heads<2>, head_dim<1>, element<f32>); };
struct head_dim_3_value_dim_5 { static constexpr auto spec = attention(heads<3>, head_dim<3>, value_dim<5>, element<f32>, causal<align::bottom_right>); };
struct head_dim_20 { static constexpr auto spec = attention(heads<2>, head_dim<20>, element<f32>); };
struct head_dim_80 { static constexpr auto spec = attention(heads<2>, head_dim<80>, element<f32>, causal<align::bottom_right>); };
struct head_dim_96 { static constexpr auto spec = attention(heads<2>, kv_heads<1>, head_dim<96>, value_dim<32>, element<f32>); };
struct head_dim_256 { static constexpr auto spec = attention(heads<2>, kv_heads<1>, head_dim<256>, element<f32>, causal<align::bottom_right>); };

// Elements.
struct f16_gqa { static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<64>, element<f16>, causal<align::bottom_right>, returns<lse>); };
struct f16_odd { static constexpr auto spec = attention(heads<3>, head_dim<3>, value_dim<5>, element<f16>); };
struct bf16_gqa { static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<64>, element<bf16>, causal<align::bottom_right>, returns<lse>); };
struct bf16_odd { static constexpr auto spec = attention(heads<3>, head_dim<3>, value_dim<5>, element<bf16>, returns<lse>); };
struct bf16_head_dim_80 { static constexpr auto spec = attention(heads<2>, head_dim<80>, element<bf16>, key_lengths); };

// Scores.
struct fixed_softcap { static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, scale<1>, softcap<5, 2>, returns<lse>); };
struct all_at_call {
  static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, scale<runtime>, softcap<runtime>, causal<align::bottom_right>, sliding_window<runtime>);
};
struct slope {};
struct alibi {
  static constexpr auto spec = operands(heads<4>, head_dim<32>, element<f32>, input<slope>(f32, axis::head))
                             | scores([](auto s, auto at) { return s - at(slope{}, at.head) / 64 * (at.query - at.key); }) // slopes are N(0,1) here
                             | mask(causal<align::top_left>)
                             | softmax() | weighted_sum(returns<lse>);
};
struct relative_bias {};
struct two_score_functions {
  static constexpr auto spec = operands(heads<2>, head_dim<16>, element<f32>, input<relative_bias>(f32, axis::head, axis::query, axis::key))
                             | scores(softcap<4>, [](auto s, auto at) { return s + at(relative_bias{}, at.head, at.query, at.key); },
                                      [](auto s, auto at) { return select(at.key % 2 == 0, s, 2 * s); })
                             | softmax() | weighted_sum();
};

// Masks.
struct top_left { static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, causal<align::top_left>, returns<lse>); };
struct self_causal { static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, self_attention, causal<>, returns<lse>); };
struct window_bottom_right { static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, causal<align::bottom_right>, sliding_window<37>, returns<lse>); };
struct window_top_left { static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, causal<align::top_left>, sliding_window<0>, returns<lse>); };
struct lengths { static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, key_lengths, returns<lse>); };
struct causal_lengths { static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, causal<align::bottom_right>, key_lengths, returns<lse>); };
struct window_function {
  static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, [](auto at) { return at.query - at.key < 64 && at.key - at.query < 32; }, returns<lse>);
};
struct block_diagonal { static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, [](auto at) { return at.query / 64 == at.key / 64; }, returns<lse>); };
struct prefix { static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, [](auto at) { return at.key < 40 || at.key <= at.query; }, returns<lse>); };
struct document {};
struct packed_documents {
  static constexpr auto spec = operands(heads<2>, head_dim<32>, element<f32>, self_attention, input<document>(i32, axis::batch, axis::key))
                             | scores()
                             | mask(causal<>, [](auto at) { return at(document{}, at.batch, at.query) == at(document{}, at.batch, at.key); })
                             | softmax() | weighted_sum(returns<lse>);
};
struct all_masks {
  static constexpr auto spec = operands(heads<4>, kv_heads<2>, head_dim<24>, value_dim<40>, element<f32>)
                             | scores(softcap<2>)
                             | mask(causal<align::bottom_right>, sliding_window<50>, key_lengths, boolean<axis::batch, axis::query, axis::key>,
                                    additive<axis::head, axis::key>, [](auto at) { return (at.query + at.key) % 5 != 0; })
                             | softmax() | weighted_sum(returns<lse, weights>);
};

// Outputs and policies.
struct with_weights { static constexpr auto spec = attention(heads<3>, head_dim<32>, element<f32>, causal<align::bottom_right>, returns<weights>); };
struct bf16_weights { static constexpr auto spec = attention(heads<2>, head_dim<32>, element<bf16>, key_lengths, returns<lse, weights>); };
struct refuses_empty_rows {
  static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, causal<align::bottom_right>, key_lengths, empty_rows<empty_row_policy::error>);
};
struct anything_masked { static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, boolean<axis::batch, axis::query, axis::key>, masked_values<anything>, returns<lse>); };
struct anything_masked_bf16 { static constexpr auto spec = attention(heads<2>, head_dim<32>, element<bf16>, boolean<axis::batch, axis::query, axis::key>, masked_values<anything>); };
struct finite_masked { static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, boolean<axis::batch, axis::query, axis::key>, returns<lse>); };
struct biased { static constexpr auto spec = attention(heads<1>, head_dim<8>, element<f32>, additive<axis::query, axis::key>, returns<lse>); };
struct plain { static constexpr auto spec = attention(heads<4>, head_dim<32>, element<f32>, returns<lse>); };

} // namespace variants

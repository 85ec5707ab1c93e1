// Masks and biases that read what the call brings, and their combinations.
#pragma once
#include "dsl/spec.hpp"

namespace masking {
using namespace attune;

struct windows { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, sliding_window<runtime, 9>, key_lengths, returns<lse>); };
struct prefix {
  static constexpr auto spec = attention(heads<3>, head_dim<16>, element<f32>, relative_bias<8, 40, unidirectional>, causal<align::bottom_right>, sliding_window<50, runtime>, prefix_lengths,
                                         key_lengths, returns<lse>, empty_rows<empty_row_policy::error>);
};
struct documents_of_two {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<16>, element<f32>, documents<ids>, boolean<axis::key>, returns<lse>);
};
struct offsets_of_two {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<16>, element<f32>, alibi<>, causal<align::bottom_right>, sliding_window<30>, documents<offsets>, returns<lse>);
};
struct packed_self {
  static constexpr auto spec = attention(heads<3>, head_dim<16>, element<bf16>, self_attention, alibi<>, causal<>, documents<offsets>, [](auto at) { return (at.position + at.key) % 7 != 0; },
                                         returns<weights>);
};
struct blocks {
  static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, self_attention, relative_bias<8, 20, bidirectional>, alibi<slopes>, block_sparse<32, 24, axis::batch, axis::head>,
                                         documents<ids>, returns<lse>);
};
struct places {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<16>, element<f32>, causal<align::top_left>,
                                         [](auto s, auto at) { return s + at.kv_head - 0.01 * (at.position - at.key); },
                                         [](auto at) { return at.key_count - at.key > 3 || at.query_count - at.query < 5; }, returns<lse>);
};

} // namespace masking

// The operators of faults that were reported against other attention kernels.
#pragma once
#include "dsl/spec.hpp"

namespace reported {
using namespace attune;

struct plain_8 { static constexpr auto spec = attention(heads<1>, head_dim<8>, element<f32>); };
struct masked_4 { static constexpr auto spec = attention(heads<1>, head_dim<4>, element<f32>, boolean<axis::query, axis::key>, masked_values<anything>, returns<lse>); };
struct masked_8 { static constexpr auto spec = attention(heads<1>, head_dim<8>, element<f32>, boolean<axis::query, axis::key>, returns<lse>); };
struct top_left_64 { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, causal<align::top_left>); };
struct bottom_right_64 { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, causal<align::bottom_right>, returns<lse>); };
struct capped { static constexpr auto spec = attention(heads<2>, head_dim<32>, element<f32>, softcap<20>, returns<lse>); };
struct spiked { static constexpr auto spec = attention(heads<16>, kv_heads<1>, head_dim<128>, element<f32>, returns<lse>); };
struct single_query { static constexpr auto spec = attention(heads<1>, head_dim<32>, element<f32>, returns<lse>); };
struct seven_heads { static constexpr auto spec = attention(heads<7>, head_dim<7>, element<f32>, returns<lse>); };
struct many_batches { static constexpr auto spec = attention(heads<3>, head_dim<64>, element<f32>); };
struct ratio_three { static constexpr auto spec = attention(heads<9>, kv_heads<3>, head_dim<64>, element<f32>); };
struct four_heads_8 { static constexpr auto spec = attention(heads<4>, head_dim<8>, element<f32>, returns<lse>); };

} // namespace reported

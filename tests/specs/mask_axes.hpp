// Boolean and additive masks over every set of axes: each set once for either of them.
#pragma once
#include "dsl/spec.hpp"

namespace mask_axes {
using namespace attune;

struct over_batch { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, boolean<axis::batch>, additive<axis::head, axis::query, axis::key>); };
struct over_head { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, boolean<axis::head>, additive<axis::batch, axis::query, axis::key>); };
struct over_query { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, boolean<axis::query>, additive<axis::batch, axis::head, axis::key>); };
struct over_key { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, boolean<axis::key>, additive<axis::batch, axis::head, axis::query>); };
struct over_batch_head { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, boolean<axis::batch, axis::head>, additive<axis::query, axis::key>); };
struct over_batch_query { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, boolean<axis::batch, axis::query>, additive<axis::head, axis::key>); };
struct over_batch_key { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, boolean<axis::batch, axis::key>, additive<axis::head, axis::query>); };
struct over_head_query { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, boolean<axis::head, axis::query>, additive<axis::batch, axis::key>); };
struct over_head_key { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, boolean<axis::head, axis::key>, additive<axis::batch, axis::query>); };
struct over_query_key { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, boolean<axis::query, axis::key>, additive<axis::batch, axis::head>); };
struct over_batch_head_query { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, boolean<axis::batch, axis::head, axis::query>, additive<axis::key>); };
struct over_batch_head_key { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, boolean<axis::batch, axis::head, axis::key>, additive<axis::query>); };
struct over_batch_query_key { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, boolean<axis::batch, axis::query, axis::key>, additive<axis::head>); };
struct over_head_query_key { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, boolean<axis::head, axis::query, axis::key>, additive<axis::batch>); };
struct over_batch_head_query_key { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<f32>, boolean<axis::batch, axis::head, axis::query, axis::key>, additive<axis::batch, axis::head, axis::query, axis::key>); };
struct over_bf16 { static constexpr auto spec = attention(heads<2>, head_dim<16>, element<bf16>, additive<bf16, axis::head, axis::query, axis::key>); };

} // namespace mask_axes

// Dims of heads that fit no vector, or many, with value_dim apart from head_dim; and shapes for tensors that lie in memory in other ways.
#pragma once
#include "dsl/spec.hpp"

namespace shapes {
using namespace attune;

// Tested in f32, f16 and bf16 on one target each (tests/correctness/CMakeLists.txt).
struct d2_v31 { static constexpr auto spec = attention(heads<2>, head_dim<2>, value_dim<31>, element<f32>); };
struct d17_v48_f16 { static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<17>, value_dim<48>, element<f16>, causal<align::bottom_right>); };
struct d160_v80_bf16 { static constexpr auto spec = attention(heads<2>, kv_heads<1>, head_dim<160>, value_dim<80>, element<bf16>, causal<align::bottom_right>); };
struct d257_v255 { static constexpr auto spec = attention(heads<2>, head_dim<257>, value_dim<255>, element<f32>); };
struct d320_bf16 { static constexpr auto spec = attention(heads<2>, kv_heads<1>, head_dim<320>, element<bf16>, key_lengths); };
struct d511_f16 { static constexpr auto spec = attention(heads<2>, kv_heads<1>, head_dim<511>, element<f16>); };
struct d512 { static constexpr auto spec = attention(heads<2>, kv_heads<1>, head_dim<512>, element<f32>, causal<align::bottom_right>); };

// One latent for all heads, whose first 512 features are the values (DeepSeek-V2, 2024: 512, and 64 with positions).
struct latent { static constexpr auto spec = attention(heads<16>, kv_heads<1>, head_dim<576>, value_dim<512>, element<f32>, causal<align::bottom_right>, returns<lse>); };
struct latent_bf16 { static constexpr auto spec = attention(heads<16>, kv_heads<1>, head_dim<576>, value_dim<512>, element<bf16>, causal<align::bottom_right>); };

// For packed QKV and far tensors.
struct grouped { static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<64>, element<f32>, layout<bshd>, returns<lse>); };
struct even { static constexpr auto spec = attention(heads<2>, head_dim<64>, element<bf16>); };
struct pages {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<64>, element<f32>, kv_element<int8>, kv_scale<per_token>, paged<16>, causal<align::at_length>);
};

} // namespace shapes

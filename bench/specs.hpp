// What the benchmarks run. 12 heads of 64 features are the shape that published attention kernels are compared at; 32 query
// heads on 8 of 128 are Llama 3's; 768 features with 12 heads are GPT-2's and BERT base's layers; 384 with 12 are MiniLM's.
#pragma once
#include "dsl/spec.hpp"
#include "dsl/spec_list.hpp"

namespace attune::bench {

template <element_type E> inline constexpr auto prefill_of = operands(heads<12>, head_dim<64>, element<E>, self_attention) | softmax() | weighted_sum();
template <element_type E>
inline constexpr auto causal_of = operands(heads<12>, head_dim<64>, element<E>, self_attention) | mask(causal<>) | softmax() | weighted_sum();
template <element_type E>
inline constexpr auto layer_of = project(model_dim<768>, heads<12>, head_dim<64>, element<E>, bias) | mask(causal<>) | softmax()
                               | weighted_sum() | project_out(bias);
template <element_type E> inline constexpr auto decode_gqa_of = operands(heads<32>, kv_heads<8>, head_dim<128>, element<E>) | softmax() | weighted_sum();
template <element_type E> inline constexpr auto decode_of = operands(heads<12>, head_dim<64>, element<E>) | softmax() | weighted_sum();

struct prefill_12x64 { static constexpr auto spec = prefill_of<f32>; };
struct prefill_12x64_bf16 { static constexpr auto spec = prefill_of<bf16>; };
struct prefill_12x128 {
  static constexpr auto spec = operands(heads<12>, head_dim<128>, element<f32>, self_attention) | softmax() | weighted_sum();
};
struct causal_12x64 { static constexpr auto spec = causal_of<f32>; };
struct causal_12x64_bf16 { static constexpr auto spec = causal_of<bf16>; };
struct layer_768 { static constexpr auto spec = layer_of<f32>; };
struct layer_768_bf16 { static constexpr auto spec = layer_of<bf16>; };
struct decode_32_8x128 { static constexpr auto spec = decode_gqa_of<f32>; };
struct decode_32_8x128_bf16 { static constexpr auto spec = decode_gqa_of<bf16>; };
struct decode_12x64 { static constexpr auto spec = decode_of<f32>; };
struct decode_12x64_bf16 { static constexpr auto spec = decode_of<bf16>; };
struct window_12x64 {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>, self_attention) | mask(causal<>, sliding_window<1024>) | softmax() | weighted_sum();
};
/// Numbers that a call brings, and the same written down.
struct run_time_12x64 {
  static constexpr auto spec = operands(heads<12>, head_dim<64>, element<f32>, self_attention) | scores(scale<runtime>, softcap<runtime>)
                             | mask(causal<>, sliding_window<runtime>) | softmax() | weighted_sum();
};
struct fixed_12x64 {
  static constexpr auto spec = operands(heads<12>, head_dim<64>, element<f32>, self_attention) | scores(scale<1, 8>, softcap<50>)
                             | mask(causal<>, sliding_window<1024>) | softmax() | weighted_sum();
};
/// The attention layer of all-MiniLM-L6-v2 (six of one shape) on a batch without padding.
struct minilm_layer {
  static constexpr auto spec =
      project(model_dim<384>, heads<12>, head_dim<32>, element<f32>, bias) | softmax() | weighted_sum() | project_out(bias);
};

/// Those that tables may have records of, beside the stock specs.
using tuned = spec_list<prefill_12x64, prefill_12x64_bf16, prefill_12x128, causal_12x64, causal_12x64_bf16, layer_768, layer_768_bf16, decode_32_8x128,
                        decode_32_8x128_bf16, decode_12x64, decode_12x64_bf16>;

} // namespace attune::bench

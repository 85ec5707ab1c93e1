// Whisper-base, the decoder's attention to the audio: 8 heads of 64, no mask. Source: Radford et al. 2022 and config.json
// of openai/whisper-base (decoder_attention_heads 8, d_model 512).
#pragma once
#include "dsl/spec.hpp"

namespace attune::stock {

struct whisper_base_cross {
  static constexpr auto spec = attention(heads<8>, head_dim<64>, element<f32>);
};

} // namespace attune::stock

// Every stock spec, in the order in which they are listed.
#pragma once
#include "dsl/spec_list.hpp"
#include "generated/stock/articles.hpp"
#include "generated/stock/bert_base.hpp"
#include "generated/stock/gemma2_2b.hpp"
#include "generated/stock/gpt2.hpp"
#include "generated/stock/llama3_8b.hpp"
#include "generated/stock/minilm.hpp"
#include "generated/stock/mistral_7b.hpp"
#include "generated/stock/whisper_base.hpp"

namespace attune::stock {

using catalogue = spec_list<minilm, minilm_bf16, minilm_layer, minilm_layer_bf16, minilm_layer_with_weights, bert_base,
                            bert_base_layer, gpt2, gpt2_f16, gpt2_bf16, gpt2_layer, llama3_8b, llama3_8b_bf16, mistral_7b,
                            mistral_7b_bf16, gemma2_2b, gemma2_2b_bf16, whisper_base_cross, article1_self_attention,
                            article2_single_head, article2_single_head_causal, article2_multi_head>;

} // namespace attune::stock

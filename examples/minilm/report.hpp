// What a person reads: the sentences, which of them are alike, and in plain words which mean the same.
#pragma once
#include "encoder.hpp"
#include <string>

namespace minilm {

/// embeddings: [sentence, model_dim], each of length 1.
std::string describe_similarity(const std::vector<tokenised_sentence> &, const matrix &embeddings);

} // namespace minilm

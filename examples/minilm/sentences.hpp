// Sentences as token ids: the stored eight, or any others through the model's own tokenizer (a Python package).
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace minilm {

struct tokenised_sentence {
  std::string text;
  std::vector<std::int32_t> ids; ///< with the opening [CLS] and the closing [SEP]
};

/// Sentences padded with [PAD] to the longest of them.
struct token_batch {
  int sentences = 0, tokens = 0;
  std::vector<std::int32_t> ids;     ///< [sentence, token]
  std::vector<std::int32_t> lengths; ///< [sentence]: valid tokens
};

/// Reads "sentences" and "input_ids" of a JSON file.
std::vector<tokenised_sentence> load_sentences(const std::filesystem::path &json);

/// Runs sentences_to_tokens.py, which needs the Python package `tokenizers`.
struct tokenizer_command {
  std::string python; ///< a path, or a name to look up in PATH
  std::filesystem::path script, tokenizer_json;
};
std::vector<tokenised_sentence> tokenise(const std::vector<std::string> &texts, const tokenizer_command &);

token_batch make_batch(const std::vector<tokenised_sentence> &);

} // namespace minilm

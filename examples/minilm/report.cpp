#include "report.hpp"
#include <algorithm>
#include <fmt/format.h>

namespace minilm {
namespace {

// Where this model's cosines usually part paraphrases from related sentences, and related from unrelated ones.
constexpr float same_meaning = 0.5f, related = 0.25f;
constexpr std::size_t longest_list = 6;

struct sentence_pair {
  int first, second;
  float cosine;
};

std::vector<sentence_pair> most_similar_first(const matrix &embeddings) {
  const matrix cosine = embeddings * embeddings.transpose();
  std::vector<sentence_pair> pairs;
  for (int i = 0; i < cosine.rows(); ++i)
    for (int j = i + 1; j < cosine.cols(); ++j) pairs.push_back({i, j, cosine(i, j)});
  std::stable_sort(pairs.begin(), pairs.end(), [](const sentence_pair &a, const sentence_pair &b) { return a.cosine > b.cosine; });
  return pairs;
}

std::string bar(float cosine) {
  constexpr int width = 30;
  const int filled = std::clamp(static_cast<int>(cosine * width + 0.5f), 0, width);
  std::string text;
  for (int i = 0; i < width; ++i) text += i < filled ? "█" : "·";
  return text;
}

const char *verdict(float cosine) { return cosine >= same_meaning ? "  the same meaning" : cosine >= related ? "  related" : ""; }

} // namespace

std::string describe_similarity(const std::vector<tokenised_sentence> &sentences, const matrix &embeddings) {
  std::string text = "Sentences\n";
  for (std::size_t i = 0; i < sentences.size(); ++i) text += fmt::format("  {:>2}  {}\n", i + 1, sentences[i].text);
  const std::vector<sentence_pair> pairs = most_similar_first(embeddings);
  if (pairs.empty()) return text + "\nOne sentence has nothing to be compared with: give two or more.\n";

  text += fmt::format("\nMost alike (cosine of their embeddings; from {} on: the same meaning, from {} on: related)\n", same_meaning, related);
  for (std::size_t i = 0; i < std::min(pairs.size(), longest_list); ++i) {
    const auto &[first, second, cosine] = pairs[i];
    text += fmt::format("  {:>2} and {:<2}  {}  {:6.3f}{}\n", first + 1, second + 1, bar(cosine), cosine, verdict(cosine));
  }
  if (pairs.size() > longest_list) text += fmt::format("  {} further pairs are less alike.\n", pairs.size() - longest_list);

  text += "\n";
  for (const auto &[first, second, cosine] : pairs)
    if (cosine >= same_meaning)
      text += fmt::format("\"{}\"\n  means the same as\n\"{}\"\n", sentences[static_cast<std::size_t>(first)].text,
                          sentences[static_cast<std::size_t>(second)].text);
  if (pairs.front().cosine < same_meaning) text += "No two of these sentences mean the same.\n";
  return text;
}

} // namespace minilm

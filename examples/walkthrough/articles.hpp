// The two articles, each as a story that computes what it tells and compares it with what the article prints or states.
#pragma once
#include "story.hpp"
#include <filesystem>

namespace walkthrough {

/// From a sentence to its context vectors: vocabulary, embedding, projections, scores, weights, output.
void tell_first_article(story &, const std::string &target);

/// One head with a mask, a causal head, several heads with an output projection, sinusoidal positions.
/// reference_folder: tests/data/articles.
void tell_second_article(story &, const std::string &target, const std::filesystem::path &reference_folder);

} // namespace walkthrough

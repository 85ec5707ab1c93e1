#include "articles.hpp"
#include "attention.hpp"
#include "torch_random.hpp"
#include <algorithm>
#include <map>
#include <sstream>

namespace walkthrough {
namespace {

constexpr const char *sentence = "Life is short, eat dessert first";
constexpr std::uint32_t seed = 123;
constexpr std::size_t vocabulary_size = 50'000;
constexpr int features = 3, head_dim = 2, value_dim = 4;
constexpr int second = 1; ///< the token that the article follows, counted from 0

// What the article prints.
const std::vector<double> printed_indices{0, 4, 5, 2, 1, 3};
const std::vector<double> printed_embedding{0.3374,  -0.1778, -0.3035, 0.1794,  1.8951, 0.4954, 0.2692,  -0.0770, -1.0205,
                                            -0.2196, -0.3792, 0.7671,  -0.5880, 0.3486, 0.6603, -1.1925, 0.6984,  -1.4097};
const std::vector<double> printed_scores{-0.6004, 3.4707, -1.5023, 0.4991, 1.2903, -1.3374};
const std::vector<double> printed_weights{0.0386, 0.6870, 0.0204, 0.0840, 0.1470, 0.0229};
const std::vector<double> printed_context{0.5313, 1.3607, 0.7891, 1.3110};
const std::vector<double> printed_output{-0.1564, 0.1028, -0.0763, -0.0764, 0.5313, 1.3607, 0.7891, 1.3110, -0.3542, -0.1234, -0.2627, -0.3706,
                                         0.0071,  0.3345, 0.0969,  0.1998,  0.1008, 0.4780, 0.2021, 0.3674, -0.5296, -0.2799, -0.4107, -0.6006};

std::vector<std::string> words_of(std::string text) {
  std::erase(text, ',');
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Each word's place in sorted order, capitals first.
std::map<std::string, int> number_words(const std::vector<std::string> &words) {
  std::map<std::string, int> index;
  for (const std::string &w : words) index[w] = 0;
  int next = 0;
  for (auto &[word, i] : index) i = next++;
  return index;
}

sequence embed(const std::vector<std::string> &words, const std::map<std::string, int> &index) {
  const std::vector<float> table = torch_generator(seed).normal(vocabulary_size * features);
  sequence x{1, static_cast<int>(words.size()), features, {}};
  for (const std::string &w : words) x.values.insert(x.values.end(), table.begin() + index.at(w) * features, table.begin() + (index.at(w) + 1) * features);
  return x;
}

/// The article multiplies x from the right by W [feature in, feature out]; transposed, it is what the kernel takes.
weights draw_weights() {
  torch_generator generator(seed);
  const auto draw = [&](int out) { return transpose({features, out, generator.uniform(static_cast<std::size_t>(features * out))}); };
  weights w;
  w.query = draw(head_dim);
  w.key = draw(head_dim);
  w.value = draw(value_dim);
  return w;
}

template <class T> std::vector<double> row(const std::vector<T> &values, int index, int columns) {
  return {values.begin() + index * columns, values.begin() + (index + 1) * columns};
}

void tell_input(story &s, const std::vector<std::string> &words, const std::map<std::string, int> &index, const sequence &x) {
  s.say("1. Words become numbers");
  s.say("   The sentence: \"{}\". Its words, sorted, are numbered:", sentence);
  std::string numbered = "     ";
  for (const auto &[word, i] : index) numbered += fmt::format(" {} = {} ", word, i);
  s.say("{}", numbered);
  std::vector<double> indices;
  for (const std::string &w : words) indices.push_back(index.at(w));
  s.same_digits("the sentence as numbers", indices, printed_indices);

  s.say("\n2. Numbers become vectors");
  s.say("   A table holds {} features for each of {} words; here it is random, as in a model not yet trained:", features, vocabulary_size);
  s.show(widen(x.values), features);
  s.same_digits("embedding of the six words", widen(x.values), printed_embedding);
}

void tell_attention(story &s, const std::vector<std::string> &words, const plain_result &plain, const attended &generated) {
  const int n = static_cast<int>(words.size());
  s.say("\n3. Queries, keys and values");
  s.say("   Three weight matrices make a query and a key of {} features and a value of {} out of each word's {}.", head_dim, value_dim, features);
  s.say("   Query times key says how much one word matters to another. For \"{}\":", words[second]);
  const std::vector<double> scores = row(plain.scores, second, n);
  s.show(scores, scores.size());
  s.same_digits("score of word 2 for word 5", {scores[4]}, {printed_scores[4]});
  s.same_digits("scores of word 2 for all words", scores, printed_scores);

  s.say("\n4. Attention weights");
  s.say("   Divided by the square root of {} and passed through softmax, the scores become shares of one whole:", head_dim);
  const std::vector<double> shares = row(generated.weights, second, n);
  for (int i = 0; i < n; ++i) {
    std::string bar;
    for (int k = 0; k < static_cast<int>(shares[static_cast<std::size_t>(i)] * 40 + 0.5); ++k) bar += "█";
    s.say("      {:>8} {:.4f} {}", words[static_cast<std::size_t>(i)], shares[static_cast<std::size_t>(i)], bar);
  }
  s.same_digits("attention weights of word 2", shares, printed_weights);

  s.say("\n5. Context vectors");
  s.say("   Each word's new vector is the sum of all values, weighted by its shares. All six words, in one call:");
  s.show(widen(generated.output), value_dim);
  s.same_digits("context vector of word 2", row(generated.output, second, value_dim), printed_context);
  s.same_digits("context vectors of all words", widen(generated.output), printed_output);
}

} // namespace

void tell_first_article(story &s, const std::string &target) {
  const std::vector<std::string> words = words_of(sentence);
  const std::map<std::string, int> index = number_words(words);
  const sequence x = embed(words, index);
  const weights w = draw_weights();
  tell_input(s, words, index, x);
  const plain_result plain = run_plain(w, x, 1, false);
  const attended generated = run_first_article(w, x, target);
  tell_attention(s, words, plain, generated);
  s.close("weights, generated library against plain loops", widen(generated.weights), plain.weights, 1e-6);
  s.close("output, generated library against plain loops", widen(generated.output), plain.output, 4e-6);
}

} // namespace walkthrough

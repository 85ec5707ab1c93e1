// Self-attention as the articles use it, run by the libraries that Attune generated, and once more by plain loops.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace walkthrough {

struct matrix {
  int rows = 0, columns = 0;
  std::vector<float> values; ///< row after row
};
matrix transpose(const matrix &);

/// The projections of one operator. Features out are heads x head_dim for query and key, heads x value_dim for value.
struct weights {
  matrix query, key, value; ///< [feature out, feature in]
  matrix output;            ///< [feature out, heads x value_dim]; empty where the operator has no output projection
};

struct sequence {
  int batch = 0, tokens = 0, features = 0;
  std::vector<float> values; ///< [batch, token, feature]
};

struct attended {
  std::vector<float> output;  ///< [batch, query, feature out]
  std::vector<float> weights; ///< [batch, head, query, key]
};

/// The operators of the articles (generated/stock/articles.hpp). `target`: the one to run by name; empty: the best one that
/// this machine can run. Each throws examples::unavailable if this machine cannot run the target.
attended run_first_article(const weights &, const sequence &, const std::string &target);
/// mask [query, key]: 1 where a query may attend to a key.
attended run_single_head(const weights &, const sequence &, const std::vector<std::uint8_t> &mask, const std::string &target);
attended run_single_head_causal(const weights &, const sequence &, const std::string &target);
attended run_multi_head(const weights &, const sequence &, const std::string &target);

/// The target that these run, by name.
std::string name_of_target(const std::string &target);

/// The definition in loops and in double precision.
struct plain_result {
  std::vector<double> scores;  ///< [batch, head, query, key]: query . key, neither scaled nor masked
  std::vector<double> weights; ///< [batch, head, query, key]
  std::vector<double> output;  ///< [batch, query, feature out]
};
plain_result run_plain(const weights &, const sequence &, int heads, bool causal);

} // namespace walkthrough

#include "attention.hpp"
#include <algorithm>
#include <cmath>

namespace walkthrough {
namespace {

/// y = x w^T: [row, feature out] from x [row, feature in].
std::vector<double> project(const std::vector<double> &x, const matrix &w) {
  const std::size_t in = static_cast<std::size_t>(w.columns), out = static_cast<std::size_t>(w.rows), rows = x.size() / in;
  std::vector<double> y(rows * out);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t o = 0; o < out; ++o)
      for (std::size_t i = 0; i < in; ++i) y[r * out + o] += x[r * in + i] * w.values[o * in + i];
  return y;
}

void softmax(double *row, int count) {
  const double largest = *std::max_element(row, row + count);
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += row[i] = std::exp(row[i] - largest);
  for (int i = 0; i < count; ++i) row[i] /= sum;
}

} // namespace

matrix transpose(const matrix &m) {
  matrix t{m.columns, m.rows, {}};
  for (int r = 0; r < t.rows; ++r)
    for (int c = 0; c < t.columns; ++c) t.values.push_back(m.values[static_cast<std::size_t>(c * m.columns + r)]);
  return t;
}

plain_result run_plain(const weights &w, const sequence &x, int heads, bool causal) {
  const std::vector<double> hidden(x.values.begin(), x.values.end());
  const std::vector<double> query = project(hidden, w.query), key = project(hidden, w.key), value = project(hidden, w.value);
  const int n = x.tokens, head_dim = w.query.rows / heads, value_dim = w.value.rows / heads;
  const auto at = [n, heads](const std::vector<double> &v, int dim, int b, int token, int h, int d) {
    return v[static_cast<std::size_t>(((b * n + token) * heads + h) * dim + d)];
  };
  plain_result result;
  std::vector<double> context(static_cast<std::size_t>(x.batch * n * heads * value_dim));
  for (int b = 0; b < x.batch; ++b)
    for (int h = 0; h < heads; ++h)
      for (int q = 0; q < n; ++q) {
        std::vector<double> row(static_cast<std::size_t>(n));
        for (int k = 0; k < n; ++k)
          for (int d = 0; d < head_dim; ++d) row[static_cast<std::size_t>(k)] += at(query, head_dim, b, q, h, d) * at(key, head_dim, b, k, h, d);
        result.scores.insert(result.scores.end(), row.begin(), row.end());
        for (double &score : row) score /= std::sqrt(static_cast<double>(head_dim));
        const int allowed = causal ? q + 1 : n;
        softmax(row.data(), allowed);
        std::fill(row.begin() + allowed, row.end(), 0.0);
        result.weights.insert(result.weights.end(), row.begin(), row.end());
        for (int k = 0; k < allowed; ++k)
          for (int d = 0; d < value_dim; ++d)
            context[static_cast<std::size_t>(((b * n + q) * heads + h) * value_dim + d)] += row[static_cast<std::size_t>(k)] * at(value, value_dim, b, k, h, d);
      }
  result.output = w.output.values.empty() ? context : project(context, w.output);
  return result;
}

} // namespace walkthrough

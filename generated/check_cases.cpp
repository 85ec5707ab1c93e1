#include "generated/check.hpp"
#include <algorithm>
#include <cctype>
#include <charconv>
#include <climits>
#include <numeric>
#include <set>

namespace attune {
namespace {

/// Multiply-adds of the reference, with a score counted as 40 more than its products (mask, exponential).
double work_of(const numbers &n, const check_case &c) {
  const double q = static_cast<double>(c.batch) * c.queries, k = static_cast<double>(c.batch) * c.keys;
  double work = q * c.keys * n.heads * (n.head_dim + n.value_dim + 40);
  if (is_projected(n)) {
    const double memory_dim = n.source == source_kind::projection ? n.model_dim : n.context_dim;
    work += q * n.model_dim * n.heads * n.head_dim + k * memory_dim * n.kv_heads * (n.head_dim + n.value_dim);
  }
  return work + q * n.heads * n.value_dim * n.output_dim;
}

/// Tile sizes in use: the usual ones, and every whole number from 8 to 4096 in the schedule's text.
std::set<int> tile_sizes(std::string_view schedule) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::set<int> tiles{16, 32, 64, 128, 512};
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if (!is_digit(schedule[i]) || (i > 0 && is_digit(schedule[i - 1]))) continue;
    int value = 0;
    std::from_chars(schedule.data() + i, schedule.data() + schedule.size(), value);
    if (value >= 8 && value <= 4096) tiles.insert(value);
  }
  return tiles;
}

/// Numbers of queries and of keys to try: around the tiles of every kernel, and on both sides of each limit between two.
struct lengths_to_try {
  std::set<int> all{1, 2, 7, 61, 97, 251};
  std::set<int> few_queries{5};

  explicit lengths_to_try(const artefact_variant &v) {
    for (const artefact_kernel *k = v.kernels; k != v.kernels + v.kernel_count; ++k) {
      for (int tile : tile_sizes(k->schedule)) all.insert({tile - 1, tile, tile + 1});
      if (k->max_keys < INT_MAX) all.insert({k->max_keys - 1, k->max_keys, k->max_keys + 1});
      if (k->max_queries < INT_MAX) few_queries.insert({k->max_queries, k->max_queries + 1});
    }
  }
};

} // namespace

std::vector<check_case> standard_cases(const numbers &n, const artefact_variant &variant, double work) {
  std::vector<check_case> cases;
  const auto add = [&](int batch, int queries, int keys) {
    check_case c{batch, queries, keys};
    c.order = static_cast<memory_order>(cases.size() % 3);
    c.seed = cases.size() + 1;
    if (!n.same_extents || queries == keys) cases.push_back(c);
  };
  const lengths_to_try lengths(variant);
  constexpr int longest_square = 1025;
  for (int length : lengths.all) {
    if (length <= longest_square || n.same_extents) add(1, length, length);
    for (int queries : lengths.few_queries) add(1, queries, length);
    add(1, length, 7);
  }
  for (int order = 0; order < 3; ++order)
    for (const auto &[queries, keys] : {std::pair{5, 5}, {19, 37}, {37, 19}, {1, 33}}) add(3, queries, keys);
  for (const auto &[queries, keys] : {std::pair{37, 61}, {61, 37}, {1, 251}, {251, 1}}) add(1, queries, keys);
  if (n.window.kind == setting::fixed)
    for (int more : {0, 1, 2, 70}) add(1, 3, static_cast<int>(n.window.value) + more);
  for (const auto &[batch, queries, keys] : {std::tuple{0, 5, 5}, {2, 0, 0}, {2, 0, 5}, {2, 5, 0}}) add(batch, queries, keys);

  std::vector<std::size_t> by_work(cases.size());
  std::iota(by_work.begin(), by_work.end(), std::size_t{0});
  std::stable_sort(by_work.begin(), by_work.end(), [&](auto a, auto b) { return work_of(n, cases[a]) < work_of(n, cases[b]); });
  std::vector<bool> kept(cases.size());
  double total = 0;
  for (std::size_t i : by_work) kept[i] = (total += work_of(n, cases[i])) <= work;
  std::vector<check_case> chosen;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (kept[i]) chosen.push_back(cases[i]);
  return chosen;
}

} // namespace attune

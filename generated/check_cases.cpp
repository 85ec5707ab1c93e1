#include "generated/check.hpp"
#include "runtime/dispatch.hpp"
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

/// The place of the kernel that runs a case.
std::size_t kernel_of(const artefact_variant &v, const check_case &c) { return static_cast<std::size_t>(&choose_kernel(v, c.queries, c.keys) - v.kernels); }

/// Tile sizes: every whole number from 8 to 4096 in a schedule's text.
std::set<int> tile_sizes(std::string_view schedule) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::set<int> tiles;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if (!is_digit(schedule[i]) || (i > 0 && is_digit(schedule[i - 1]))) continue;
    int value = 0;
    std::from_chars(schedule.data() + i, schedule.data() + schedule.size(), value);
    if (value >= 8 && value <= 4096) tiles.insert(value);
  }
  return tiles;
}

/// Lengths for all kernels: some primes, and around the usual tile sizes, those of every schedule, and limits between kernels.
std::set<int> common_lengths(const artefact_variant &v) {
  std::set<int> lengths{1, 2, 7, 61, 97, 251}, tiles{16, 32, 64, 128, 512};
  for (int i = 0; i < v.kernel_count; ++i) {
    tiles.merge(tile_sizes(v.kernels[i].schedule));
    if (v.kernels[i].max_keys < INT_MAX) tiles.insert(v.kernels[i].max_keys);
  }
  for (int tile : tiles) lengths.insert({tile - 1, tile, tile + 1});
  return lengths;
}

/// The calls that fall to one of several kernels: from these numbers of queries and keys on, up to its limits.
struct own_calls {
  int first_queries = 1, first_keys = 1, max_queries, max_keys;

  own_calls(const artefact_variant &v, int kernel) : max_queries(v.kernels[kernel].max_queries), max_keys(v.kernels[kernel].max_keys) {
    for (int i = 0; i < kernel; ++i) {
      if (v.kernels[i].max_queries < max_queries) first_queries = std::max(first_queries, v.kernels[i].max_queries + 1);
      if (v.kernels[i].max_keys < max_keys) first_keys = std::max(first_keys, v.kernels[i].max_keys + 1);
    }
  }
  int queries_near(int n) const { return std::clamp(n, first_queries, max_queries); }
  int keys_near(int n) const { return std::clamp(n, first_keys, max_keys); }
};

/// Among the calls that fall to one of several kernels: around its limits and the tile sizes of its own schedule, a full batch.
template <class Add> void add_own_cases(const numbers &n, const artefact_variant &v, int kernel, Add add) {
  const own_calls own(v, kernel);
  const auto near = [&](int batch, int queries, int keys) {
    const int k = own.keys_near(keys);
    add(batch, n.same_extents ? k : own.queries_near(queries), k);
  };
  for (int tile : tile_sizes(v.kernels[kernel].schedule)) {
    const auto multiple_past = [tile](int first) { return (first + tile) / tile * tile; };
    for (int more : {-1, 0, 1}) {
      near(1, 5, multiple_past(own.first_keys) + more);
      if (!n.same_extents) near(1, multiple_past(own.first_queries) + more, own.first_keys + 36);
    }
  }
  for (int queries : {own.first_queries, own.max_queries}) near(1, std::min(queries, own.first_queries + 36), own.first_keys + 96);
  near(3, 19, own.first_keys + 17);
  if (own.max_queries < INT_MAX && own.max_keys < INT_MAX)
    for (int queries : {own.max_queries, own.max_queries + 1})
      for (int more : {-1, 0, 1}) add(1, queries, own.max_keys + more);
}

} // namespace

std::vector<check_case> standard_cases(const numbers &n, const artefact_variant &variant, double work) {
  std::vector<check_case> cases;
  const auto add = [&](int batch, int queries, int keys) {
    check_case c{batch, queries, keys};
    c.order = static_cast<memory_order>(cases.size() % 3);
    c.seed = cases.size() + 1;
    if (!n.same_extents || queries == keys) cases.push_back(c);
  };
  constexpr int longest_square = 1025;
  for (int length : common_lengths(variant)) {
    if (length <= longest_square || n.same_extents) add(1, length, length);
    add(1, 5, length);
    add(1, length, 7);
  }
  for (int i = 0; i < variant.kernel_count && variant.kernel_count > 1; ++i) add_own_cases(n, variant, i, add);
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
  std::vector<double> spent(static_cast<std::size_t>(variant.kernel_count));
  for (std::size_t i : by_work) kept[i] = (spent[kernel_of(variant, cases[i])] += work_of(n, cases[i])) <= work / variant.kernel_count;
  std::vector<check_case> chosen;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (kept[i]) chosen.push_back(cases[i]);
  return chosen;
}

std::vector<check_case> bucket_cases(const numbers &n, std::string_view schedule, length_bucket bucket, double work) {
  const length_limits limits = limits_of(n, bucket);
  const int few = std::min(limits.queries, 5);
  std::set<std::pair<int, int>> calls;
  const auto add = [&](int queries, int keys) {
    if (n.same_extents) queries = keys;
    if (limits.hold(queries, keys)) calls.emplace(queries, keys);
  };
  std::set<int> lengths{1, 61};
  for (const int tile : tile_sizes(schedule)) lengths.insert({tile - 1, tile + 1});
  for (const int length : lengths) {
    add(few, length);
    add(few, length + short_keys + 88); // of the long buckets
    add(length, 37);
    add(length, short_keys + 89);
  }
  std::vector<check_case> cases{{3, n.same_extents ? 19 : few, 19}};
  for (const auto &[queries, keys] : calls) cases.push_back({1, queries, keys});
  std::stable_sort(cases.begin(), cases.end(), [&](const check_case &a, const check_case &b) { return work_of(n, a) < work_of(n, b); });
  double spent = 0;
  std::vector<check_case> chosen;
  for (check_case &c : cases) {
    if ((spent += work_of(n, c)) > work && !chosen.empty()) break;
    c.order = static_cast<memory_order>(chosen.size() % 3);
    c.seed = chosen.size() + 1;
    chosen.push_back(c);
  }
  return chosen;
}

std::vector<int> cases_by_kernel(const artefact_variant &variant, const std::vector<check_case> &cases) {
  std::vector<int> counts(static_cast<std::size_t>(variant.kernel_count));
  for (const check_case &c : cases)
    if (c.batch > 0 && c.queries > 0 && c.keys > 0) ++counts[kernel_of(variant, c)];
  return counts;
}

} // namespace attune

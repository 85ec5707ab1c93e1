#include "generated/check_cache.hpp"
#include <limits>
#include <set>

namespace attune {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// int8 inputs are N(0, 32).
void fill_scale(check_tensor &t, element_type stored, std::uint64_t seed) {
  const double usual = stored == element_type::int8 ? 1.0 / 32 : 1.0;
  t.fill([&](auto n) { return usual * (0.5 + uniform_value(seed, n)); });
}

/// From the last page backwards, so that no batch's pages follow each other; the two pages at the front stay unused.
void fill_pages(check_tensor &table, const check_tensor &lengths, std::int64_t pages, int page_size) {
  std::int64_t next = pages;
  table.for_each([&](const auto &at) {
    --next;
    table.set(at, static_cast<double>(at[1] * page_size) < lengths.get({at[0]}) ? static_cast<double>(next) : -1);
  });
}

/// Which places (outermost axis, key or slot) of a cache hold keys within their batch's length.
std::set<std::pair<std::int64_t, std::int64_t>> held_places(const check_call &call, const numbers &n) {
  std::set<std::pair<std::int64_t, std::int64_t>> held;
  const check_tensor &lengths = call.tensor("key_lengths");
  lengths.for_each([&](const auto &at) {
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(lengths.get(at)); ++k)
      if (is_paged(n)) held.emplace(static_cast<std::int64_t>(call.tensor("page_table").get({at[0], k / n.cache.page_size})), k % n.cache.page_size);
      else held.emplace(at[0], k);
  });
  return held;
}

/// Sets what is not held to poison. The key or slot stands at axis `place`.
void poison(check_tensor &t, const std::set<std::pair<std::int64_t, std::int64_t>> &held, int place) {
  const double bad = t.shape().element == element_type::int8 ? 127 : nan;
  t.for_each([&](const auto &at) {
    if (held.count({at[0], at[static_cast<std::size_t>(place)]}) == 0) t.set(at, bad);
  });
}

} // namespace

void fill_cache(check_call &call, const numbers &n, std::uint64_t seed) {
  if (n.cache.scale != kv_scaling::off) {
    fill_scale(call.tensor("key_scale"), cache_element(n), seed * 64 + 61);
    fill_scale(call.tensor("value_scale"), cache_element(n), seed * 64 + 62);
  }
  if (is_paged(n)) fill_pages(call.tensor("page_table"), call.tensor("key_lengths"), call.tensor("key").extents()[0], n.cache.page_size);
  if (!n.key_lengths || n.source == source_kind::projection) return;
  const auto held = held_places(call, n);
  if (n.source == source_kind::cross_projection) return poison(call.tensor("context"), held, 1);
  poison(call.tensor("key"), held, 2);
  poison(call.tensor("value"), held, 2);
  if (n.cache.scale != kv_scaling::per_token) return;
  poison(call.tensor("key_scale"), held, 2);
  poison(call.tensor("value_scale"), held, 2);
}

} // namespace attune

#include "generated/check_cache.hpp"
#include <limits>
#include <vector>

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
class held_places {
public:
  held_places(const check_call &call, const numbers &n, std::int64_t outer, std::int64_t places) : places_(places), held_(static_cast<std::size_t>(outer * places)) {
    const scalar_tensor lengths = call.tensor("key_lengths").values(), table = is_paged(n) ? call.tensor("page_table").values() : scalar_tensor();
    for (std::int64_t batch = 0; batch < lengths.extents[0]; ++batch)
      for (std::int64_t k = 0; k < static_cast<std::int64_t>(lengths({batch})); ++k)
        if (is_paged(n)) held_[number(static_cast<std::int64_t>(table({batch, k / n.cache.page_size})), k % n.cache.page_size)] = true;
        else held_[number(batch, k)] = true;
  }
  bool operator()(std::int64_t outer, std::int64_t place) const { return held_[number(outer, place)]; }

private:
  std::size_t number(std::int64_t outer, std::int64_t place) const { return static_cast<std::size_t>(outer * places_ + place); }
  std::int64_t places_;
  std::vector<bool> held_;
};

/// Sets what is not held to poison. The key or slot stands at axis `place`.
void poison(check_tensor &t, const held_places &held, std::size_t place) {
  const double bad = t.shape().element == element_type::int8 ? 127 : nan;
  t.for_each([&](const auto &at) {
    if (!held(at[0], at[place])) t.set(at, bad);
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
  const bool is_layer = n.source == source_kind::cross_projection;
  const std::size_t place = is_layer ? 1 : 2;
  const std::vector<std::int64_t> &extents = call.tensor(is_layer ? "context" : "key").extents();
  const held_places held(call, n, extents[0], extents[place]);
  if (is_layer) return poison(call.tensor("context"), held, place);
  poison(call.tensor("key"), held, place);
  poison(call.tensor("value"), held, place);
  if (n.cache.scale != kv_scaling::per_token) return;
  poison(call.tensor("key_scale"), held, place);
  poison(call.tensor("value_scale"), held, place);
}

} // namespace attune

// Calls by their lengths: the buckets that may each have a schedule of their own. C++17, no Halide.
//
// One schedule is not best at every length: with few queries a call is bound by reading key and value, with few keys a
// whole row of scores stays in cache. So a kernel is generated for each bucket whose schedule differs, and a call takes
// the one for its numbers of queries and keys.
#pragma once
#include "dsl/numbers.hpp"
#include <climits>
#include <optional>
#include <string_view>

namespace attune {

/// In the order in which a call looks: the first whose limits hold is taken.
enum class length_bucket { decode_short, decode_long, prefill_short, prefill_long };
inline constexpr int length_bucket_count = 4;

constexpr const char *name_of(length_bucket b) {
  constexpr const char *names[] = {"decode_short", "decode_long", "prefill_short", "prefill_long"};
  return names[static_cast<int>(b)];
}

/// The bucket of that name, if there is one.
constexpr std::optional<length_bucket> find_length_bucket(std::string_view name) {
  for (int i = 0; i < length_bucket_count; ++i)
    if (name == name_of(static_cast<length_bucket>(i))) return static_cast<length_bucket>(i);
  return std::nullopt;
}

constexpr bool is_decode(length_bucket b) { return b == length_bucket::decode_short || b == length_bucket::decode_long; }
constexpr bool is_short(length_bucket b) { return b == length_bucket::decode_short || b == length_bucket::prefill_short; }

/// A call with at most this many keys is short: scores of a query tile against all of them stay in the first cache levels.
inline constexpr int short_keys = 512;

/// A call with at most this many queries decodes. 8 rows of query heads for each key head: with 8 queries of 12 heads of 64 against
/// 4,096 keys (f32, one Zen 4 core) decode takes 2.7 ms where a tile of queries takes 7.9.
constexpr int decode_queries(const numbers &n) {
  const int group = n.heads / n.kv_heads;
  return group < 8 ? 8 / group : 1;
}

/// Where queries and keys come from the same tokens, few queries mean few keys, and there is nothing to decode; a layer's
/// time goes into its projections whatever the number of queries.
constexpr bool has_decode(const numbers &n) { return n.source == source_kind::operands && !n.same_extents; }

/// The buckets that calls of a spec fall into, in order.
struct length_buckets {
  length_bucket list[length_bucket_count] = {};
  int count = 0;
  constexpr const length_bucket *begin() const { return list; }
  constexpr const length_bucket *end() const { return list + count; }
};
constexpr length_buckets buckets_of(const numbers &n) {
  if (has_decode(n)) return {{length_bucket::decode_short, length_bucket::decode_long, length_bucket::prefill_short, length_bucket::prefill_long}, 4};
  return {{length_bucket::prefill_short, length_bucket::prefill_long}, 2};
}

/// The most queries and keys, of one batch element, that a kernel is taken for.
struct length_limits {
  int queries = INT_MAX, keys = INT_MAX;
  constexpr bool hold(long long q, long long k) const { return q <= queries && k <= keys; }
};
constexpr length_limits limits_of(const numbers &n, length_bucket b) {
  return {is_decode(b) ? decode_queries(n) : INT_MAX, is_short(b) ? short_keys : INT_MAX};
}

/// The bucket of a call with `queries` queries and `keys` keys.
constexpr length_bucket bucket_of(const numbers &n, long long queries, long long keys) {
  for (const length_bucket b : buckets_of(n))
    if (limits_of(n, b).hold(queries, keys)) return b;
  return length_bucket::prefill_long;
}

} // namespace attune

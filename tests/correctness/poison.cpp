// NaN and infinity in every CPU family, at pinned points with several strips and chunks: they show in exactly the rows that attend
// to them, whatever their payload, and nowhere else. Looked at as bits, since generated code is compiled with fast-math.
#include "tests/support/pinned_kernel.hpp"
#include <algorithm>
#include <functional>
#include <limits>

using namespace attune;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint32_t all_ones = 0xffffffffu; // a NaN; with any of the 23 low bits it would be one

template <auto E> struct past { static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<32>, element<E>, causal<align::bottom_right>, returns<lse>); };
template <auto E> struct biased { static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<32>, element<E>, additive<axis::query, axis::key>, returns<lse>); };
template <auto E> struct masked {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<32>, element<E>, boolean<axis::query, axis::key>, returns<lse>);
};
template <auto E> struct masked_anything {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<32>, element<E>, boolean<axis::query, axis::key>, masked_values<anything>, returns<lse>);
};

/// A point of each family; chunks of 128 keys but for row_tile, strips of one vector.
template <class Spec> std::vector<pinned_kernel> every_family() {
  const operator_description op = describe<Spec>();
  const parameters strips{{"query_tile", 2 * lanes_under_test()}, {"query_vectors", 1}, {"dot_keys", 8}, {"key_block", 32}, {"row_group", 4}, {"value_vectors", 1}, {"value_unroll", 2}};
  parameters chunks = strips;
  chunks.emplace_back("key_chunk", 128);
  std::vector<schedule_point> points{point_of("row_tile", op, strips), point_of("chunk", op, chunks), point_of("running", op, chunks), point_of("decode", op, {{"key_chunk", 128}})};
  if (find_family("tiles").why_not(op, info_of(target_under_test()), length_bucket::prefill_long).empty())
    points.push_back(point_of("tiles", op, {{"query_tile", 32}, {"query_vectors", 1}, {"dot_keys", 16}, {"key_block", 32}, {"key_chunk", 128}}));
  return compile_kernels(op, points);
}

bool is_nan(const check_tensor &t, const std::vector<std::int64_t> &at) {
  const bool half = t.shape().element == element_type::bf16;
  return half ? (t.bits(at) & 0x7fffu) > 0x7f80u : (t.bits(at) & 0x7fffffffu) > 0x7f800000u;
}

/// Which rows (batch, head, query) must be NaN.
using rows = std::function<bool(std::int64_t batch, std::int64_t head, std::int64_t query)>;

constexpr int queries = 37, keys = 300;

bool nowhere(std::int64_t, std::int64_t, std::int64_t) { return false; }

/// Runs `call` before and after `spoil`, and requires NaN in every element of the named rows, of the output and (where scores are
/// spoiled, not values) of LSE, and the same bits as before elsewhere.
template <class Call, class Spoil> void require_nan_in(Call &call, const Spoil &spoil, const rows &named, bool in_scores = true) {
  call.must_run();
  CHECK(call.differences(call.reference()) == "");
  const scalar_tensor output = call.tensor("output").values(), lse = call.tensor("lse").values();
  spoil(call);
  call.must_run();
  long wrong = 0;
  for (const auto &[name, before] : {std::pair{"output", &output}, {"lse", &lse}}) {
    const check_tensor &t = call.tensor(name);
    t.for_each([&](const auto &at) {
      const bool should = named(at[0], at[1], at[2]) && (in_scores || at.size() == 4);
      if (should ? !is_nan(t, at) : t.get(at) != (*before)(at)) ++wrong;
    });
  }
  CHECK(wrong == 0);
}

/// All features of some keys of K or V.
template <class Call> void fill_keys(Call &call, const char *name, const std::vector<int> &which, const std::function<void(check_tensor &, const std::vector<std::int64_t> &)> &write) {
  check_tensor &t = call.tensor(name);
  t.for_each([&](const auto &at) {
    if (std::find(which.begin(), which.end(), at[2]) != which.end()) write(t, at);
  });
}
void write_ones(check_tensor &t, const std::vector<std::int64_t> &at) { set_bits(t, at, all_ones); }

template <class Spec> void check_query_and_key() {
  for (const pinned_kernel &kernel : every_family<Spec>()) {
    INFO(kernel->info().variants->kernels->schedule);
    pinned_call<Spec> query(*kernel, shape(2, queries, keys));
    require_nan_in(query, [](auto &call) { for (int d = 0; d < 32; ++d) set_bits(call.tensor("query"), {1, 2, 17, d}, all_ones); },
                   [](auto b, auto h, auto q) { return b == 1 && h == 2 && q == 17; });
    pinned_call<Spec> key(*kernel, shape(2, queries, keys)); // key 280 is seen from query 17 on
    require_nan_in(key, [](auto &call) { for (int d = 0; d < 32; ++d) set_bits(call.tensor("key"), {1, 1, 280, d}, all_ones); },
                   [](auto b, auto h, auto q) { return b == 1 && h / 2 == 1 && q >= 17; });
  }
}

template <class Spec> void check_additive() {
  for (const pinned_kernel &kernel : every_family<Spec>()) {
    INFO(kernel->info().variants->kernels->schedule);
    pinned_call<Spec> call(*kernel, shape(1, queries, keys));
    require_nan_in(call, [](auto &c) {
      set_bits(c.tensor("additive_mask"), {5, 131}, all_ones);
      set_bits(c.tensor("additive_mask"), {36, 299}, 0x7f800001u);
    }, [](auto, auto, auto q) { return q == 5 || q == 36; });
  }
}

/// Row 5 sees no key; even rows do not see the second chunk, odd rows not the first; nobody sees keys 13 and 290 to 299.
bool sees(std::int64_t q, std::int64_t k) {
  if (q == 5 || k == 13 || k >= 290) return false;
  return q % 2 == 0 ? k / 128 != 1 : k / 128 != 0;
}
std::vector<int> seen_by_none() {
  std::vector<int> all{13};
  for (int k = 290; k < keys; ++k) all.push_back(k);
  return all;
}

template <class Spec> void check_hidden(const char *tensor) {
  for (const pinned_kernel &kernel : every_family<Spec>()) {
    INFO(kernel->info().variants->kernels->schedule << ", " << tensor);
    pinned_call<Spec> call(*kernel, shape(2, queries, keys));
    call.tensor("boolean_mask").for_each([&](const auto &at) { call.tensor("boolean_mask").set(at, sees(at[0], at[1])); });
    for (const double poison : {infinity, -infinity}) {
      const auto write = [poison](check_tensor &t, const std::vector<std::int64_t> &at) { t.set(at, poison); };
      require_nan_in(call, [&](auto &c) { fill_keys(c, tensor, seen_by_none(), write); }, nowhere);
    }
    require_nan_in(call, [&](auto &c) { fill_keys(c, tensor, seen_by_none(), write_ones); }, nowhere);
    // Now where some see it: their rows are NaN, the others of the same tile are as they were.
    require_nan_in(call, [&](auto &c) { fill_keys(c, tensor, {130, 255}, write_ones); }, [](auto, auto, auto q) { return sees(q, 130); },
                   std::string(tensor) == "key");
    for (int d = 0; d < 32; ++d) CHECK(call.tensor("output").bits({1, 3, 5, d}) == 0);
    CHECK(call.tensor("lse").get({1, 3, 5}) == -infinity);
  }
}

} // namespace

TEST_CASE("a query or a key of ones makes NaN of the rows that attend, in every family") {
  check_query_and_key<past<f32>>();
  check_query_and_key<past<bf16>>();
}

TEST_CASE("any NaN in an additive mask makes NaN of its row, in every family") {
  check_additive<biased<f32>>();
  check_additive<biased<bf16>>();
}

TEST_CASE("NaN and infinity in masked keys do not matter, in every family") {
  check_hidden<masked<f32>>("key");
  check_hidden<masked<bf16>>("key");
}

TEST_CASE("NaN and infinity in masked values do not matter where the spec allows them, in every family") {
  for (const char *tensor : {"key", "value"}) {
    check_hidden<masked_anything<f32>>(tensor);
    check_hidden<masked_anything<bf16>>(tensor);
  }
}

// The CPU families compute the same operator, at their default points and at others: on every target, against the scalar reference.
// (The emitted kernels that other tests run all have the points that are chosen when nobody pins one.)
#include "tests/specs/caches.hpp"
#include "tests/support/pinned_kernel.hpp"
#include "dsl/pipeline/mask.hpp"

using namespace attune;

namespace {

// ---- what is computed: shapes that fit no vector and no tile, for any element
template <auto E> struct plain {
  static constexpr auto spec = attention(heads<3>, head_dim<5>, value_dim<40>, element<E>, returns<lse>);
};
template <auto E> struct grouped {
  static constexpr auto spec = attention(heads<2>, kv_heads<1>, head_dim<24>, value_dim<40>, element<E>, returns<lse>);
};
template <auto E> struct trimmed {
  static constexpr auto spec = attention(heads<8>, kv_heads<2>, head_dim<40>, value_dim<24>, element<E>, causal<align::bottom_right>, sliding_window<150>, key_lengths, returns<lse>);
};
template <auto E> struct block_diagonal {
  static constexpr auto spec = attention(heads<2>, kv_heads<1>, head_dim<24>, value_dim<40>, element<E>, [](auto at) { return at.query / 96 == at.key / 96; }, returns<lse>);
};
/// Each of eight heads of one key head sees a hundred keys of its own: most blocks are empty for most heads, and all from 800 on.
template <auto E> struct own_hundreds {
  static constexpr auto spec = attention(heads<8>, kv_heads<1>, head_dim<64>, element<E>, [](auto at) { return at.key / 100 == at.head; }, returns<lse>);
};
template <auto E> struct masked {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<16>, value_dim<5>, element<E>, boolean<axis::batch, axis::query, axis::key>,
                                         additive<axis::head, axis::key>, returns<lse>);
};

template <auto E> struct one_layer { // the heads' outputs lie side by side in rows, log-sum-exp in the same loops
  static constexpr auto spec = layer(model_dim<48>, heads<3>, head_dim<16>, value_dim<20>, element<E>, bias, causal<>, returns<lse>);
};

// ---- how
/// Queries and keys on both sides of tiles, blocks and chunks; a batch of three, one without keys where there are lengths.
void check(const artefact_info &kernel, const reference_operator &meaning, int queries, int keys, int number) {
  const auto order = static_cast<memory_order>(number % 3);
  check_case how = shape(3, queries, keys, order);
  how.seed = static_cast<std::uint64_t>(number + 1);
  check_call call(meaning, how);
  if (meaning.n.key_lengths) set_lengths(call, {keys, 0, (keys + 1) / 2});
  const status ended = call.run(kernel, options_under_test());
  INFO(kernel.variants->kernels->schedule << ": " << how.text() << "; " << ended.message());
  REQUIRE(ended);
  CHECK(call.differences(call.reference()) == "");
}

using lengths = std::vector<std::pair<int, int>>;
template <class Spec> void check_points(const std::string &family, const std::vector<parameters> &points, const lengths &calls) {
  const operator_description op = describe<Spec>();
  std::vector<schedule_point> all;
  for (const parameters &p : points) all.push_back(point_of(family, op, p));
  for (const pinned_kernel &kernel : compile_kernels(op, all)) {
    int number = 0;
    for (const auto &[queries, keys] : calls) check(kernel->info(), refer<Spec>(), queries, keys, number++);
  }
}

// Strips of one vector, three to a tile; of two vectors, two to a tile.
parameters three_strips() {
  return {{"query_tile", 3 * lanes_under_test()}, {"query_vectors", 1}, {"dot_keys", 8}, {"key_block", 32}, {"dot_unroll", 1}, {"row_group", 4}, {"value_vectors", 1}, {"value_unroll", 2}};
}
parameters two_strips() {
  return {{"query_tile", 4 * lanes_under_test()}, {"query_vectors", 2}, {"dot_keys", 4}, {"key_block", 16}, {"row_group", 8}, {"value_vectors", 1}, {"value_unroll", 4}};
}
parameters with(parameters p, const std::string &name, int value) {
  p.emplace_back(name, value);
  return p;
}

template <class Spec> void check_blocked(const lengths &calls = {{1, 1}, {1, 257}, {23, 25}, {24, 256}, {25, 127}, {97, 300}, {300, 97}, {61, 511}, {50, 1100}}) {
  check_points<Spec>("row_tile", {{}, two_strips()}, calls);
  check_points<Spec>("chunk", {{{"key_chunk", 512}}, with(three_strips(), "key_chunk", 256)}, calls);
  check_points<Spec>("running", {with(two_strips(), "key_chunk", 96)}, calls);
}

/// heads: that share a key head.
template <class Spec> void check_decode(int heads) {
  const bool in_streams = is_affine(describe<Spec>());
  const int lanes = lanes_under_test();
  lengths calls;
  for (const int keys : {0, 1, 15, 16, 17, 31, 33, 63, 65, 127, 128, 129, 255, 256, 257, 1000, 1023, 1024, 1025, 1100, 1279, 1281, 2063}) calls.emplace_back(1 + static_cast<int>(calls.size()) % 8, keys);
  for (int queries = 1; queries <= 8; ++queries) calls.emplace_back(queries, 77);
  check_points<Spec>("decode",
                     {{},
                      {{"key_chunk", 128}, {"key_block", 16}, {"key_streams", in_streams ? 2 : 1}, {"dot_unroll", lanes / 2}, {"value_heads", heads}, {"value_vectors", 1}, {"value_unroll", lanes / 4}},
                      {{"key_chunk", 256}, {"key_block", 64}, {"key_streams", 1}, {"dot_unroll", lanes}, {"value_heads", 1}, {"value_vectors", 8}, {"value_unroll", 2}}},
                     calls);
}

} // namespace

TEST_CASE("blocked: no mask") {
  check_blocked<grouped<f32>>();
  check_blocked<grouped<bf16>>();
}
TEST_CASE("blocked: causal, window and lengths") {
  check_blocked<trimmed<f32>>();
  check_blocked<trimmed<f16>>();
  check_blocked<trimmed<bf16>>();
}
TEST_CASE("blocked: a mask function") {
  check_blocked<block_diagonal<f32>>();
  check_blocked<block_diagonal<bf16>>();
}

TEST_CASE("blocked: layers") {
  const lengths tokens{{1, 1}, {23, 23}, {65, 65}, {300, 300}};
  check_blocked<one_layer<f32>>(tokens);
  check_blocked<one_layer<bf16>>(tokens);
}

TEST_CASE("decode: no mask, an odd head_dim") {
  check_decode<plain<f32>>(1);
  check_decode<plain<bf16>>(1);
}
TEST_CASE("decode: causal, window and lengths, four heads to a key head") {
  check_decode<trimmed<f32>>(4);
  check_decode<trimmed<f16>>(4);
  check_decode<trimmed<bf16>>(4);
}
TEST_CASE("decode: a mask function that leaves chunks empty, eight heads to a key head") {
  check_decode<own_hundreds<f32>>(8);
  check_decode<own_hundreds<bf16>>(8);
}
TEST_CASE("decode: mask tensors, an odd value_dim") {
  check_decode<masked<f32>>(2);
  check_decode<masked<bf16>>(2);
}

TEST_CASE("blocked: caches in families that are no default, out of pages and as they are stored") {
  const auto check_families = [](const operator_description &op, const reference_operator &meaning) {
    for (const pinned_kernel &kernel : compile_kernels(op, {point_of("row_tile", op), point_of("running", op)}))
      for (const auto &[queries, keys] : lengths{{1, 1}, {19, 33}, {40, 300}}) {
        check_call call(meaning, shape(3, queries, keys));
        const status ended = call.run(kernel->info(), options_under_test());
        INFO(op.name << ": " << queries << " queries, " << keys << " keys; " << ended.message());
        REQUIRE(ended);
        CHECK(call.differences(call.reference()) == "");
      }
  };
  check_families(describe<caches::int8_tokens>(), refer<caches::int8_tokens>());
  check_families(describe<caches::paged_bf16>(), refer<caches::paged_bf16>());
}

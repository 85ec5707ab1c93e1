// The family `tiles`, whose products are rewritten after Halide has lowered them: every form of loop and mask against the scalar
// reference, at lengths on both sides of tiles, blocks and chunks.
#include "tests/specs/caches.hpp"
#include "tests/support/pinned_kernel.hpp"

using namespace attune;

namespace {

struct full {
  static constexpr auto spec = attention(heads<3>, head_dim<64>, element<bf16>, returns<lse>);
};
struct wide_values {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<32>, value_dim<80>, element<bf16>, softcap<20>);
};
struct trimmed {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<96>, value_dim<48>, element<bf16>, causal<align::bottom_right>, sliding_window<150>, key_lengths, returns<lse>);
};
struct by_function {
  static constexpr auto spec = attention(heads<2>, kv_heads<1>, head_dim<32>, element<bf16>, [](auto at) { return at.query / 96 == at.key / 96; }, returns<lse>);
};
struct by_tensors {
  static constexpr auto spec = attention(heads<2>, head_dim<32>, value_dim<16>, element<bf16>, boolean<axis::batch, axis::query, axis::key>, additive<axis::head, axis::key>);
};
struct both_windows {
  static constexpr auto spec = attention(heads<4>, kv_heads<1>, head_dim<32>, value_dim<16>, element<bf16>, sliding_window<70, 25>, key_lengths, sinks, returns<lse>);
};
struct no_maxima {
  static constexpr auto spec = operands(heads<2>, head_dim<32>, value_dim<16>, element<bf16>) | mask(causal<align::bottom_right>, sliding_window<50>) | sigmoid() | weighted_sum();
};
struct sparse {
  static constexpr auto spec = operands(heads<2>, head_dim<32>, element<bf16>) | mask(block_sparse<32, 32, axis::batch, axis::head>) | sigmoid() | weighted_sum();
};
struct packed {
  static constexpr auto spec = attention(heads<2>, head_dim<32>, element<bf16>, causal<align::bottom_right>, documents<offsets>, returns<lse>);
};

struct projected {
  static constexpr auto spec = project(model_dim<64>, heads<3>, head_dim<32>, element<bf16>, bias) | scores() | mask(causal<>) | softmax() | weighted_sum() | project_out(model_dim<80>, bias);
};
struct projected_with_lse {
  static constexpr auto spec = project(model_dim<64>, heads<3>, head_dim<32>, element<bf16>) | scores() | mask(causal<>) | softmax() | weighted_sum(returns<lse>) | project_out();
};

parameters one_vector() { return {{"query_tile", 48}, {"key_chunk", 448}, {"key_block", 64}, {"query_vectors", 1}, {"dot_keys", 16}, {"value_tiles", 4}}; }
parameters whole_blocks() { return {{"query_tile", 48}, {"key_chunk", 128}, {"key_block", 128}, {"query_vectors", 1}, {"dot_keys", 64}, {"value_tiles", 1}}; } // a chunk is one block
parameters four_vectors() { return {{"query_tile", 64}, {"key_chunk", 512}, {"key_block", 32}, {"query_vectors", 4}, {"dot_keys", 16}, {"value_tiles", 1}}; }

template <class Spec> void check(const std::vector<parameters> &replaced = {{}, one_vector(), four_vectors()}) {
  const operator_description op = describe<Spec>();
  std::vector<schedule_point> points;
  for (const parameters &p : replaced) points.push_back(point_of("tiles", op, p));
  for (const pinned_kernel &kernel : compile_kernels(op, points)) {
    int number = 0;
    for (const auto &[queries, keys] : std::vector<std::pair<int, int>>{{7, 0}, {1, 1}, {1, 257}, {15, 31}, {33, 32}, {127, 256}, {129, 300}, {300, 97}, {61, 511}, {50, 1100}, {400, 1025}}) {
      const bool has_lengths = op.n.key_lengths && !is_paged(op.n);
      check_case how = shape(has_lengths ? 3 : 2, queries, is_projected(op.n) ? queries : keys, static_cast<memory_order>(number % 3));
      how.seed = static_cast<std::uint64_t>(++number);
      pinned_call<Spec> call(*kernel, how);
      if (has_lengths) set_lengths(call, {keys, 0, (keys + 1) / 2});
      INFO(how.text());
      call.must_agree();
    }
  }
}

} // namespace

TEST_CASE("tiles: no mask") { check<full>(); }
TEST_CASE("tiles: heads that share keys, wide values, softcap") { check<wide_values>(); }
TEST_CASE("tiles: causal, window and lengths") { check<trimmed>(); }
TEST_CASE("tiles: a mask function") { check<by_function>(); }
TEST_CASE("tiles: mask tensors") { check<by_tensors>(); }
TEST_CASE("tiles: windows to both sides, sinks, lengths") { check<both_windows>({{}, whole_blocks()}); }
TEST_CASE("tiles: sigmoid, strips and chunks of a tile without keys") { check<no_maxima>({{}, whole_blocks()}); }
TEST_CASE("tiles: sigmoid, blocks that are skipped") { check<sparse>({{{"query_tile", 64}, {"key_chunk", 256}}}); }
TEST_CASE("tiles: packed sequences") { check<packed>({{}}); }
TEST_CASE("tiles: projections, the last panel in part") { check<projected>(); }
TEST_CASE("tiles: projections, log-sum-exp in the loops that write rows") { check<projected_with_lse>(); }
TEST_CASE("tiles: keys and values out of pages") { check<caches::paged_bf16>(); }

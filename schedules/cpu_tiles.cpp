#include "schedules/cpu_tiles.hpp"
#include "schedules/cpu_blocked.hpp"
#include "schedules/cpu_vectors.hpp"

namespace attune {
using namespace Halide;

namespace {
constexpr int tile_keys = 2 * tile_pairs; ///< keys that one step of the weighted sum takes
constexpr int lanes = 16;

/// Bytes that a task keeps against very many keys, but for a strip's scores and weights: sums of chunks, and a chunk's values transposed.
/// A call's scratch stays below 8 MiB on each thread.
constexpr std::int64_t most_bytes = 7 << 20;
std::int64_t kept_bytes(const operator_description &op, int query_tile, int key_chunk) {
  return bytes_of_sums(op, query_tile, key_chunk) + std::int64_t{key_chunk + tile_keys} * op.n.value_dim * 2;
}
} // namespace

std::string cpu_tiles_why_not(const operator_description &op, const target_info &target) {
  if (!target.tile_bf16) return "tiles is for targets that multiply tiles of bf16";
  if (!has_pairs(op)) return "tiles multiplies operands and caches of bf16, with masked values that are finite";
  if (op.n.head_dim % tile_keys != 0 || op.n.value_dim % tile_rows != 0)
    return "tiles takes a head_dim that is a multiple of 32 and a value_dim that is one of 16; here they are " + std::to_string(op.n.head_dim) + " and " + std::to_string(op.n.value_dim);
  return "";
}

std::vector<schedule_parameter> cpu_tiles_parameters() {
  return {{"query_tile", "queries per task", {32, 64, 128, 256, 512}},
          {"key_chunk", "keys per softmax chunk", {256, 512, 1024, 2048, 4096}},
          {"key_block", "keys per entry of the tile map, and unit of the trimmed loops", {32, 64, 128}},
          {"query_vectors", "vectors of queries that one group of tiles takes", {1, 2, 4}},
          {"dot_keys", "keys in one group of tiles of the scores", {16, 32, 64}},
          {"value_tiles", "tiles of features in one group of tiles of the weighted sum", {1, 2, 4}}};
}

schedule_point cpu_tiles_default(const operator_description &op) {
  // A tile of 64 leaves less of a causal mask's diagonal; 12 heads of 128, one Xeon core, in times of 128 queries and 2,048 keys: 1.08 at 256 tokens,
  // 1.04 at 512, 1.07 at 1,024, 0.95 at 4,096. Without a mask 128 is better from 1,024 tokens on (0.94).
  int query_tile = is_trimmed(op) && op.n.head_dim >= 128 ? 64 : 128, key_chunk = 1024;
  while (kept_bytes(op, query_tile, key_chunk) > most_bytes) {
    if (key_chunk >= 2048 && query_tile > 32) query_tile /= 2;
    else key_chunk *= 2;
  }
  return {"tiles", {{"query_tile", query_tile}, {"key_chunk", key_chunk}, {"key_block", 32}, {"query_vectors", 2}, {"dot_keys", 32}, {"value_tiles", 2}}, "default"};
}

blocking cpu_tiles_blocking(const schedule_point &p) {
  const int strip = p.at("query_vectors") * lanes;
  return {p.at("query_tile"), strip, p.at("key_chunk"), p.at("key_block"), p.at("dot_keys"), strip, tile_keys, 0, true, true};
}

std::string cpu_tiles_broken_rule(const operator_description &op, const schedule_point &p) {
  const blocking cut = cpu_tiles_blocking(p);
  for (const std::string &broken :
       {divides("query_vectors x 16", cut.strip, "query_tile", cut.query_tile), divides("a tile's rows", tile_rows, "dot_keys", cut.dot_keys),
        divides("dot_keys", cut.dot_keys, "key_block", cut.key_block), divides("a step of the weighted sum", tile_keys, "key_block", cut.key_block),
        divides("key_block", cut.key_block, "key_chunk", cut.key_chunk),
        fits_scratch(cut.strip, cut.key_chunk)})
    if (!broken.empty()) return broken;
  const std::int64_t bytes = kept_bytes(op, cut.query_tile, cut.key_chunk);
  if (bytes <= most_bytes) return "";
  return "sums of chunks and a chunk's values would take " + std::to_string(bytes >> 10) + " KiB of scratch for very many keys, and " + std::to_string(most_bytes >> 10) +
         " KiB is the most: choose another query_tile or key_chunk";
}

void schedule_tiled_scores(blocked_attention &a, blocked_attention::score_pass &pass, const operator_description &op) {
  RVar pair("pair"), half("half");
  a.rows.update(pass.update).reorder(a.q, pass.keys.x, pass.keys.y, pass.keys.z, a.s).vectorize(a.q, lanes).unroll(a.q).unroll(pass.keys.x, 8);
  pass.dot.compute_at(a.rows, pass.keys.y).bound_extent(a.q, a.cut.strip).bound_extent(a.s, 1).bound_extent(a.k, a.cut.dot_keys);
  pass.dot.update().split(pass.features.x, pair, half, 2).reorder(half, a.q, a.k, pair);
  if (pass.copied_keys.defined())
    pass.copied_keys.compute_at(a.rows, pass.keys.y).bound_extent(a.d, op.n.head_dim).bound_extent(a.k, a.cut.dot_keys).vectorize(a.d, tile_keys).unroll(a.d, unrolled(op.n.head_dim / tile_keys));
}

void schedule_tiled_values(blocked_attention &a, const operator_description &op) {
  a.value_columns.compute_at(a.sum, a.c).bound(a.e, 0, 2).bound_extent(a.d, op.n.value_dim).bound_extent(a.t, 1)
      .align_storage(a.k, a.cut.key_chunk / 2 + tile_pairs); // rows a power of two apart would meet in few sets of the caches
  a.value_columns.update().reorder(a.e, a.value_blocks.x, a.d, a.value_blocks.y);
  a.staged_values.compute_at(a.value_columns, a.value_blocks.y).bound_extent(a.d, op.n.value_dim).bound_extent(a.k, tile_pairs).vectorize(a.d, lanes).unroll(a.d, unrolled(op.n.value_dim / lanes));
}

void schedule_tiled_sum(blocked_attention &a, const operator_description &op, const schedule_point &point) {
  Var dd("dd"), di("di"), qq("qq"), qi("qi");
  const int value_tile = tile_rows * divisor_of(op.n.value_dim / tile_rows, point.at("value_tiles"));
  a.sum.reorder_storage(a.q, a.d, a.c, a.t, a.h, a.b).split(a.d, dd, di, value_tile).split(a.q, qq, qi, a.cut.row_group).reorder(qi, di, dd, qq, a.c, a.t, a.h, a.b).vectorize(qi, lanes).unroll(qi).unroll(di, 8);
  a.group_sum.reorder_storage(a.q, a.d, a.g, a.c, a.t, a.h, a.b).compute_at(a.sum, dd).bound_extent(a.q, a.cut.row_group).bound_extent(a.g, 1).bound_extent(a.d, value_tile);
  for (std::size_t i = 0; i < a.sum_keys.size(); ++i) {
    RDom &keys = a.sum_keys[i];
    std::vector<VarOrRVar> order{keys.x, a.q, a.d, keys.y, keys.z};
    if (a.has_tile_map) order.push_back(keys.w);
    a.group_sum.update(static_cast<int>(i)).reorder(order);
  }
}

tiled_funcs tiled_funcs_of(const blocked_attention &a) {
  if (!a.cut.tiles) return {};
  tiled_funcs funcs{{a.group_sum.name()}, {a.value_columns.name()}};
  for (const blocked_attention::score_pass &pass : a.score_passes) funcs.products.push_back(pass.dot.name());
  return funcs;
}

} // namespace attune

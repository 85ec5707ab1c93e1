#include "schedules/cpu_blocked.hpp"
#include "schedules/cpu_tiles.hpp"
#include "schedules/cpu_vectors.hpp"

namespace attune {
using namespace Halide;

namespace {
struct lane_plan {
  int query;       ///< vectors of queries
  int head_dim;    ///< vectors of features where they are copied
  int value_dim;   ///< vectors of output features
  int unrolled_values; ///< vectors of output features that are copied at a time
  int strips;      ///< whose scores and weights are kept at a time: all of a tile, or one
  Var strips_at;   ///< the loop of the weighted sum that they are computed in
};
lane_plan lanes_of(const operator_description &op, const target_info &target, const blocked_attention &a) {
  const int widest = f32_lanes(target);
  lane_plan lanes{widest, lanes_for(op.n.head_dim, widest), lanes_for(op.n.value_dim, widest), 0, a.cut.tiles ? 1 : a.cut.query_tile / a.cut.strip, a.cut.tiles ? Var("qq") : a.c};
  lanes.unrolled_values = unrolled(op.n.value_dim / lanes.value_dim);
  return lanes;
}
} // namespace

blocking blocking_of(const operator_description &op, const target_info &target, const schedule_point &p) {
  if (p.family == "tiles") return cpu_tiles_blocking(p);
  return {p.at("query_tile"), p.at("query_vectors") * f32_lanes(target), p.family == "row_tile" ? 0 : p.at("key_chunk"), p.at("key_block"), p.at("dot_keys"), p.at("row_group"), p.at("value_unroll"),
          p.family == "running" ? lanes_for(op.n.value_dim, f32_lanes(target)) : 0, multiplies_pairs(op, target), false};
}

bool has_pairs(const operator_description &op) {
  return op.n.element == element_type::bf16 && cache_element(op.n) == element_type::bf16 && op.n.masked_values == masked_value_policy::finite;
}

bool multiplies_pairs(const operator_description &op, const target_info &target) {
  // The instruction takes at least four lanes: of features of a value, and of pairs of features of a key (decode).
  return target.dot_bf16 && has_pairs(op) && op.n.head_dim % 8 == 0 && op.n.value_dim % 4 == 0;
}

namespace {
/// Bytes that a task keeps of the chunks' weighted sums, against so many keys that it counts. One chunk's scores and weights come on top;
/// with default schedules the stock specs' calls stay below 8 MiB on each thread.
constexpr int many_keys = 131'072, most_bytes = 6 << 20;
} // namespace

std::int64_t bytes_of_sums(const operator_description &op, int query_tile, int key_chunk) {
  return std::int64_t{(many_keys + key_chunk - 1) / key_chunk} * query_tile * op.n.value_dim * 4;
}

std::vector<schedule_parameter> cpu_blocked_parameters(const operator_description &op, const std::string &family) {
  if (family == "tiles") return cpu_tiles_parameters();
  std::vector<schedule_parameter> all{{"query_tile", "queries per task", {16, 24, 32, 48, 64, 96, 128}},
                                      {"key_block", "keys per entry of the tile map, and unit of the trimmed loops", {4, 8, 12, 16, 24, 32, 64}},
                                      {"query_vectors", "vectors of queries in one register tile of the scores", {1, 2, 3, 4}},
                                      {"dot_keys", "keys in one register tile of the scores", {4, 6, 8, 12}},
                                      {"dot_unroll", "features that the scores take at a time", {1, 2, 4, 8}},
                                      {"row_group", "query rows in one register tile of the weighted sum", {4, 6, 8, 12}},
                                      {"value_vectors", "vectors of features in one register tile of the weighted sum", {1, 2, 4}},
                                      {"value_unroll", "keys that the weighted sum takes at a time", {1, 2, 4}}};
  if (family != "row_tile") all.insert(all.begin() + 1, {"key_chunk", "keys per softmax chunk", {96, 128, 256, 480, 512, 768, 1024, 2048}});
  for (schedule_parameter &p : all)
    if (p.name == "value_vectors" && op.n.value_dim < 16) p.values = {1};
  return all;
}

schedule_point cpu_blocked_default(const operator_description &op, const target_info &target, const std::string &family) {
  if (family == "tiles") return cpu_tiles_default(op);
  const bool trimmed = is_trimmed(op);
  const bool narrow = trimmed || op.n.head_dim >= 128;
  struct shape { int query_tile, key_chunk, query_vectors, dot_keys, row_group, value_vectors, unroll; } s;
  // 512 bits: 16 accumulators in the scores and in the weighted sum. One Zen 4 core, 12 heads, N = 512 / 1024 / 4096, of the peak of
  // FMA (118 GFLOP/s) or vdpbf16ps (236): f32 12 x 64 .86 / .89 / .90, with causal .81 / .83 / .89; f32 12 x 128 .89 (1024) / .91; bf16
  // 12 x 64 .80 / .81 / .83, with causal .74 / .75 / .80. Large tiles of pairs, because values are paired anew for each tile.
  if (target.vector_bytes == 64 && multiplies_pairs(op, target))
    s = narrow ? shape{op.n.head_dim >= 128 ? 64 : 128, trimmed ? 512 : 1024, 2, 8, 4, 4, 2} : shape{128, 1024, 4, 4, 4, 4, 2};
  else if (target.vector_bytes == 64)
    s = narrow ? shape{32, trimmed ? 1024 : 512, 2, 8, 8, 2, 4} : shape{64, 1024, 4, 4, 8, 2, 4};
  else if (target.vector_bytes == 32) // 12 accumulators: 16 registers
    s = {24, op.n.head_dim >= 128 ? 128 : trimmed ? 512 : 256, 3, 4, 6, 2, 4};
  else // NEON: 24 accumulators in the scores, 16 in the weighted sum : the widest that do not spill
    s = {16, 480, 2, 12, 8, 2, 4};
  const int key_block = is_affine(op) ? s.dot_keys : s.dot_keys * std::max(1, 32 / s.dot_keys);
  while (family == "chunk" && bytes_of_sums(op, s.query_tile, s.key_chunk - s.key_chunk % key_block) > most_bytes) s.key_chunk *= 2;
  schedule_point p{family, {{"query_tile", s.query_tile}}, "default"};
  if (family != "row_tile") p.parameters.emplace_back("key_chunk", s.key_chunk - s.key_chunk % key_block);
  for (const auto &parameter : std::initializer_list<std::pair<std::string, int>>{{"key_block", key_block}, {"query_vectors", s.query_vectors},
       {"dot_keys", s.dot_keys}, {"dot_unroll", s.unroll}, {"row_group", s.row_group}, {"value_vectors", s.value_vectors}, {"value_unroll", s.unroll}})
    p.parameters.push_back(parameter);
  return p;
}

std::string cpu_blocked_broken_rule(const operator_description &op, const target_info &target, const schedule_point &p) {
  if (p.family == "tiles") return cpu_tiles_broken_rule(op, p);
  const blocking cut = blocking_of(op, target, p);
  for (const std::string &broken :
       {divides("a pair of bf16", cut.bf16_pairs ? 2 : 1, "value_unroll", cut.value_unroll), divides("query_vectors x lanes", cut.strip, "query_tile", cut.query_tile),
        divides("row_group", cut.row_group, "query_vectors x lanes", cut.strip), divides("dot_keys", cut.dot_keys, "key_block", cut.key_block),
        divides("value_unroll", cut.value_unroll, "dot_keys", cut.dot_keys),
        cut.key_chunk > 0 ? divides("key_block", cut.key_block, "key_chunk", cut.key_chunk) : std::string(),
        fits_scratch(cut.query_tile, cut.key_chunk > 0 ? cut.key_chunk : short_keys),
        fits_registers("query_vectors x dot_keys", p.at("query_vectors"), cut.dot_keys, target),
        fits_registers("row_group x value_vectors", cut.row_group, p.at("value_vectors"), target)})
    if (!broken.empty()) return broken;
  if (p.family == "chunk")
    if (const std::int64_t bytes = bytes_of_sums(op, cut.query_tile, cut.key_chunk); bytes > most_bytes)
      return "query_tile x value_dim x chunks would take " + std::to_string(bytes >> 10) + " KiB of scratch for " + std::to_string(many_keys) + " keys, and " +
             std::to_string(most_bytes >> 10) + " KiB is the most: a longer key_chunk takes less";
  return "";
}

namespace {
/// Rows of a tile that run along queries: small, computed once per tile.
void schedule_row_vectors(Func f, const Var &q, int query_tile, int lanes) { f.bound_extent(q, query_tile).vectorize(q, lanes).unroll(q); }

/// Weights as pairs of bf16, both halves of a vector of pairs stored as one; their totals by vdpbf16ps with ones.
void schedule_weight_pairs(blocked_attention &a, const lane_plan &lanes) {
  Var qq("qq"), qi("qi");
  const int strip = a.cut.strip;
  a.weights.compute_at(a.sum, lanes.strips_at).bound_extent(a.q, strip).bound_extent(a.s, lanes.strips).bound_extent(a.k, a.chunk_keys / 2).bound(a.e, 0, 2).bound_extent(a.t, 1);
  a.weights.update().split(a.q, qq, qi, lanes.query).reorder(a.e, qi, a.weight_keys.x, qq, a.weight_keys.y, a.weight_keys.z, a.s).vectorize(qi).unroll(a.e)
      .unroll(a.weight_keys.x);
  a.weight_pair.compute_at(a.weights, a.weight_keys.x).vectorize(a.q, lanes.query).unroll(a.q).unroll(a.k);
  if (!a.normalises()) return;
  a.ones.compute_at(a.sum, a.c).bound(a.e, 0, 2).vectorize(a.e, 2);
  a.pair_totals.compute_at(a.sum, lanes.strips_at).bound_extent(a.q, strip).bound_extent(a.s, lanes.strips).bound_extent(a.k, a.cut.dot_keys / 2).bound_extent(a.t, 1)
      .vectorize(a.q, lanes.query).unroll(a.q).unroll(a.k);
  a.pair_totals.update().split(a.q, qq, qi, lanes.query).reorder(a.total_keys.x, qi, a.k, a.total_keys.y, a.total_keys.z, qq, a.s)
      .atomic().vectorize(a.total_keys.x).vectorize(qi).unroll(a.k);
}

void schedule_scores(blocked_attention &a, const lane_plan &lanes, const operator_description &op, const schedule_point &point) {
  Var qq("qq"), qi("qi");
  Func &rows = a.rows;
  if (a.normalises()) rows.update(0).vectorize(a.q, lanes.query).unroll(a.q);
  for (blocked_attention::score_pass &pass : a.score_passes) {
    if (a.cut.tiles) {
      schedule_tiled_scores(a, pass, op);
      continue;
    }
    rows.update(pass.update).reorder(a.q, pass.keys.x, pass.keys.y, pass.keys.z, a.s).vectorize(a.q, lanes.query).unroll(a.q).unroll(pass.keys.x);
    pass.dot.compute_at(rows, pass.keys.y).bound_extent(a.q, a.cut.strip).bound_extent(a.s, 1).bound_extent(a.k, a.cut.dot_keys).vectorize(a.q, lanes.query).unroll(a.q).unroll(a.k);
    RVar feature = pass.features.x;
    int unroll = lanes_for(op.n.head_dim, point.at("dot_unroll"));
    if (a.cut.bf16_pairs) {
      RVar half("half");
      pass.dot.update().split(pass.features.x, feature = RVar("pair"), half, 2).reorder(half, a.q, a.k, feature).atomic().vectorize(half);
      unroll = lanes_for(op.n.head_dim / 2, unroll);
    } else pass.dot.update().reorder(a.q, a.k, feature);
    pass.dot.update().vectorize(a.q, lanes.query).unroll(a.q).unroll(a.k).unroll(feature, unroll);
  }
  if (a.cut.bf16_pairs) return schedule_weight_pairs(a, lanes);
  if (a.normalises()) rows.update(a.sum_row_update).vectorize(a.q, lanes.query).unroll(a.q);
  rows.update(a.weight_update).split(a.q, qq, qi, lanes.query).reorder(qi, a.weight_keys.x, a.weight_keys.y, a.weight_keys.z, qq, a.s).vectorize(qi, lanes.query).unroll(a.weight_keys.x, 4);
}

void schedule_sum(blocked_attention &a, const lane_plan &lanes, const operator_description &op, const schedule_point &point) {
  const int value_tile = lanes.value_dim * divisor_of(op.n.value_dim / lanes.value_dim, point.at("value_vectors")); // features of one register tile
  Var dd("dd"), di("di"), qq("qq"), qi("qi");
  a.sum.split(a.d, dd, di, value_tile).split(a.q, qq, qi, a.cut.row_group).reorder(di, qi, qq, dd, a.c, a.t, a.h, a.b).vectorize(di, lanes.value_dim).unroll(di).unroll(qi);
  a.group_sum.compute_at(a.sum, qq).bound_extent(a.q, a.cut.row_group).bound_extent(a.g, 1).bound_extent(a.d, value_tile)
      .vectorize(a.d, lanes.value_dim).unroll(a.d).unroll(a.q);
  for (std::size_t i = 0; i < a.sum_keys.size(); ++i) {
    RDom &keys = a.sum_keys[i];
    Stage update = a.group_sum.update(static_cast<int>(i));
    if (a.cut.bf16_pairs) {
      std::vector<VarOrRVar> order{keys.x, a.d, a.q, keys.y, keys.z};
      if (a.has_tile_map) order.push_back(keys.w);
      update.reorder(order).atomic().vectorize(keys.x).vectorize(a.d, lanes.value_dim).unroll(a.d).unroll(a.q).unroll(keys.y);
    } else {
      std::vector<VarOrRVar> order{a.d, a.q, keys.x, keys.y};
      if (a.has_tile_map) order.push_back(keys.z);
      update.reorder(order).vectorize(a.d, lanes.value_dim).unroll(a.d).unroll(a.q).unroll(keys.x);
    }
  }
}

using place_of = std::function<Func &(Func &)>;

/// All chunks' sums stay until the end of the tile.
void schedule_merge(blocked_attention &a, const lane_plan &lanes, const place_of &per_tile) {
  const int query_tile = a.cut.query_tile;
  per_tile(a.merged).bound_extent(a.t, 1).bound_extent(a.q, query_tile);
  if (a.cut.tiles) {
    a.merged.reorder_storage(a.q, a.d, a.t, a.h, a.b).reorder(a.q, a.d).vectorize(a.q, lanes.query).unroll(a.q);
    a.merged.update().reorder(a.q, a.d, a.merged_chunks.x).vectorize(a.q, lanes.query).unroll(a.q);
  } else {
    a.merged.vectorize(a.d, lanes.value_dim).unroll(a.d, lanes.unrolled_values);
    a.merged.update().reorder(a.d, a.merged_chunks.x, a.q).vectorize(a.d, lanes.value_dim).unroll(a.d, lanes.unrolled_values);
  }
  per_tile(a.sum);
  if (!a.normalises()) return;
  for (Func *f : {&a.total, &a.maximum, &a.chunk_weight}) per_tile(*f).bound_extent(a.t, 1);
  for (Func *f : {&a.total, &a.maximum, &a.chunk_weight}) schedule_row_vectors(*f, a.q, query_tile, lanes.query);
  a.total.update().reorder(a.q, a.total_chunks.x).vectorize(a.q, lanes.query).unroll(a.q);
  a.maximum.update().reorder(a.q, a.maximum_chunks.x).vectorize(a.q, lanes.query).unroll(a.q);
  for (Func *f : {&a.chunk_maximum, &a.chunk_total}) per_tile(*f);
}

/// One chunk's sums at a time.
void schedule_running(blocked_attention &a, const place_of &per_tile) {
  per_tile(a.running).bound_extent(a.t, 1).bound_extent(a.q, a.cut.query_tile).bound(a.lane, 0, a.cut.running_lanes).bound(a.column, 0, a.running_columns())
      .vectorize(a.lane).unroll(a.column);
  a.running.update().reorder(a.lane, a.running_chunks.x, a.q, a.running_chunks.y).vectorize(a.lane).unroll(a.running_chunks.x);
  for (Func *f : {&a.sum, &a.chunk_maximum, &a.chunk_total}) f->compute_at(a.running, a.running_chunks.y).bound_extent(a.c, 1);
}
} // namespace

void schedule_cpu_blocked(blocked_attention &a, Func result, const std::vector<Func> &of_rows, const operator_description &op, const target_info &target, const schedule_point &point) {
  const lane_plan lanes = lanes_of(op, target, a);
  const int query_tile = a.cut.query_tile;
  Var qo("qo"), qi("qi"), task("task");
  result.split(a.q, qo, qi, query_tile, TailStrategy::GuardWithIf).reorder(a.d, qi, qo, a.h, a.b);
  // Tiles of all heads and batches are tasks of one parallel loop. A loop that Funcs share stays three: of a fused one Halide cannot tell
  // that all of them are at one head and one tile.
  const bool shared = !of_rows.empty();
  if (shared) result.never_partition(qo, a.h, a.b).parallel(qo).parallel(a.h);
  else result.fuse(a.h, a.b, task).fuse(qo, task, task).parallel(task);
  result.vectorize(a.d, lanes.value_dim).unroll(a.d, lanes.unrolled_values);
  for (Func f : of_rows) // in the same loops: a tile's maxima and totals are there
    f.split(a.q, qo, qi, query_tile, TailStrategy::GuardWithIf).reorder(qi, qo, a.h, a.b).never_partition(qo, a.h, a.b).parallel(qo).parallel(a.h).compute_with(result, qo);
  for (Func *f : {&a.staged_query, &a.query_tile, &a.sum, &a.chunk_maximum, &a.chunk_total, &a.inverse_total, &a.rows})
    if (f->defined()) f->bound_extent(a.t, 1);
  const auto per_tile = [&](Func &f) -> Func & {
    if (shared) f.bound_extent(a.h, 1).bound_extent(a.b, 1);
    return f.compute_at(result, shared ? qo : task);
  };

  per_tile(a.staged_query).bound_extent(a.q, query_tile);
  if (a.cut.bf16_pairs) {
    const int pairs = op.n.head_dim / 2, pair_lanes = lanes_for(pairs, lanes.query), value_lanes = lanes_for(op.n.value_dim, 2 * lanes.query);
    a.staged_query.bound_extent(a.d, pairs).vectorize(a.d, pair_lanes).unroll(a.d, unrolled(pairs / pair_lanes));
    per_tile(a.query_tile).bound_extent(a.q, query_tile).bound(a.e, 0, 2).reorder_storage(a.e, a.q, a.d, a.t, a.h, a.b).reorder(a.e, a.q, a.d)
        .vectorize(a.q, lanes.query).unroll(a.e).unroll(a.q);
    if (a.cut.tiles) schedule_tiled_values(a, op);
    else a.value_pairs.compute_at(a.sum, a.c).bound(a.e, 0, 2).bound_extent(a.d, op.n.value_dim).reorder(a.e, a.d, a.k)
        .vectorize(a.d, value_lanes).unroll(a.e).unroll(a.d, unrolled(op.n.value_dim / value_lanes));
  } else {
    a.staged_query.bound_extent(a.d, op.n.head_dim).vectorize(a.d, lanes.head_dim).unroll(a.d, unrolled(op.n.head_dim / lanes.head_dim));
    per_tile(a.query_tile).bound_extent(a.q, query_tile).reorder_storage(a.q, a.d, a.t, a.h, a.b).vectorize(a.q, lanes.query).unroll(a.q);
  }
  if (a.normalises()) schedule_row_vectors(per_tile(a.inverse_total), a.q, query_tile, lanes.query);
  if (a.cut.running_lanes > 0) schedule_running(a, per_tile);
  else schedule_merge(a, lanes, per_tile);
  if (a.has_tile_map) {
    per_tile(a.tile_map);
    a.classify.compute_ranges_at(result, shared ? qo : task);
  }

  a.sum.bound_extent(a.q, query_tile).bound_extent(a.d, op.n.value_dim);
  if (a.cut.tiles) schedule_tiled_sum(a, op, point);
  else schedule_sum(a, lanes, op, point);
  for (Func *f : {&a.chunk_maximum, &a.chunk_total}) {
    if (!a.normalises()) break;
    if (a.cut.tiles) f->bound_extent(a.q, query_tile).split(a.q, Var("qq"), Var("qi"), a.cut.strip).vectorize(Var("qi"), lanes.query).unroll(Var("qi"));
    else schedule_row_vectors(*f, a.q, query_tile, lanes.query);
    f->compute_with(a.sum, lanes.strips_at);
  }
  a.rows.compute_at(a.sum, lanes.strips_at).bound_extent(a.q, a.cut.strip).bound_extent(a.s, lanes.strips).bound_extent(a.k, a.chunk_keys + (a.cut.bf16_pairs ? 1 : 2));
  schedule_scores(a, lanes, op, point);
  if (a.stages_keys()) a.key_rows.compute_at(a.sum, a.c).vectorize(a.d, lanes.head_dim);
  if (a.stages_rows()) a.value_rows.compute_at(a.sum, a.c).vectorize(a.d, lanes.value_dim);
}

} // namespace attune

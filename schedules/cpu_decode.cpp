#include "schedules/cpu_decode.hpp"
#include "schedules/cpu_blocked.hpp"

namespace attune {
using namespace Halide;

namespace {
int f32_lanes(const target_info &t) { return t.vector_bytes / 4; }

/// The widest vector that divides an extent.
int lanes_for(int extent, int widest) {
  int lanes = widest;
  while (extent % lanes != 0) lanes /= 2;
  return lanes;
}
} // namespace

std::string cpu_decode_why_not(const operator_description &op) {
  return has_decode(op.n) ? "" : "decode is for calls with few queries, and queries and keys of this spec come from the same tokens";
}

decode_blocking decode_blocking_of(const operator_description &op, const target_info &target, const schedule_point &p) {
  const bool pairs = multiplies_pairs(op, target) && op.n.value_dim % 2 == 0;
  const int lanes = lanes_for(pairs ? op.n.head_dim / 2 : op.n.head_dim, f32_lanes(target));
  return {p.at("key_chunk"), p.at("key_block"), f32_lanes(target), lanes, lanes_for(op.n.value_dim, f32_lanes(target)), pairs};
}

std::vector<schedule_parameter> cpu_decode_parameters(const operator_description &, const target_info &) {
  return {{"key_chunk", "keys of one partial result, which one core computes", {128, 256, 512, 1024, 2048}},
          {"key_block", "keys that are skipped together, and that the weighted sum takes at a time", {16, 32, 64}},
          {"dot_unroll", "keys whose dot products are computed at a time", {1, 2, 4, 8}},
          {"value_heads", "heads in one register tile of the weighted sum", {1, 2, 4, 8}},
          {"value_vectors", "vectors of features in one register tile of the weighted sum", {1, 2, 4, 8}},
          {"value_unroll", "keys (or pairs of keys) that the weighted sum takes at a time", {1, 2, 4}}};
}

schedule_point cpu_decode_default(const operator_description &op, const target_info &target) {
  const int group = op.n.heads / op.n.kv_heads, accumulators = target.vector_registers / 2;
  const int heads = group % 4 == 0 ? 4 : group % 2 == 0 ? 2 : 1;
  int vectors = 8;
  while (heads * vectors > accumulators) vectors /= 2;
  return {"decode", {{"key_chunk", 512}, {"key_block", 32}, {"dot_unroll", 1}, {"value_heads", heads}, {"value_vectors", vectors}, {"value_unroll", 1}}, "default"};
}

std::string cpu_decode_broken_rule(const operator_description &op, const target_info &target, const schedule_point &p) {
  const auto divides = [&](const std::string &small, int small_value, const std::string &large, int large_value) -> std::string {
    if (small_value > 0 && large_value % small_value == 0) return "";
    return small + " (" + std::to_string(small_value) + ") must divide " + large + " (" + std::to_string(large_value) + ")";
  };
  const decode_blocking cut = decode_blocking_of(op, target, p);
  const int accumulators = p.at("value_heads") * p.at("value_vectors");
  for (const std::string &broken :
       {divides("key_block", cut.key_block, "key_chunk", cut.key_chunk), divides("the lanes of a vector", cut.dot_keys, "key_block", cut.key_block),
        divides("dot_unroll", p.at("dot_unroll"), "the lanes of a vector", cut.dot_keys),
        divides("value_heads", p.at("value_heads"), "the heads that share a key head", op.n.heads / op.n.kv_heads),
        divides("value_unroll", p.at("value_unroll"), cut.bf16_pairs ? "half of key_block" : "key_block", cut.bf16_pairs ? cut.key_block / 2 : cut.key_block)})
    if (!broken.empty()) return broken;
  if (accumulators >= target.vector_registers)
    return "value_heads x value_vectors needs " + std::to_string(accumulators) + " accumulators, and " + target.name + " has " +
           std::to_string(target.vector_registers) + " vector registers in all";
  return "";
}

namespace {
void schedule_scores(decode_attention &a, const schedule_point &point, const Var &at) {
  Var ko("ko"), ki("ki");
  const int lanes = a.cut.lanes, keys = a.cut.dot_keys, unroll = point.at("dot_unroll");
  a.scores.compute_at(a.partial, at).bound_extent(a.k, a.cut.key_chunk).bound_extent(a.g, a.group).vectorize(a.k, keys);
  a.scores.update().reorder(a.score_keys.x, a.g, a.score_keys.y, a.score_keys.z).vectorize(a.score_keys.x).unroll(a.g);
  a.dot.compute_at(a.scores, a.score_keys.y).reorder_storage(a.k, a.g, a.n, a.c, a.h, a.b).bound_extent(a.k, keys).bound_extent(a.g, a.group)
      .vectorize(a.k, keys).unroll(a.g);
  a.dot.update().split(a.k, ko, ki, unroll).reorder(a.lanes.x, a.g, ki, ko).atomic().vectorize(a.lanes.x).unroll(a.g).unroll(ki);
  a.lane_sums.compute_at(a.dot, ko).bound_extent(a.u, lanes).bound_extent(a.g, a.group).bound_extent(a.k, unroll).vectorize(a.u, lanes).unroll(a.g).unroll(a.k);
  if (a.cut.bf16_pairs)
    a.lane_sums.update().reorder(a.features.x, a.u, a.g, a.features.y, a.k).atomic().vectorize(a.features.x).vectorize(a.u, lanes).unroll(a.g)
        .unroll(a.features.y).unroll(a.k);
  else a.lane_sums.update().reorder(a.u, a.g, a.features.x, a.k).vectorize(a.u, lanes).unroll(a.g).unroll(a.features.x).unroll(a.k);
}

/// Maximum and total of a chunk: lane by lane, then once across the lanes.
void schedule_row(Func by_lane, Func row, const RDom &keys, const RDom &lanes, decode_attention &a, const Var &at) {
  by_lane.compute_at(a.partial, at).bound_extent(a.u, a.cut.dot_keys).bound_extent(a.g, a.group).vectorize(a.u, a.cut.dot_keys).unroll(a.g);
  by_lane.update().reorder(a.u, a.g, keys.x).vectorize(a.u, a.cut.dot_keys).unroll(a.g);
  row.compute_at(a.partial, at).bound_extent(a.g, a.group);
  row.update().reorder(lanes.x, a.g).atomic().vectorize(lanes.x);
}

void schedule_sum(decode_attention &a, int value_tile, int pair_lanes, const schedule_point &point, const Var &at) {
  Var dd("dd"), di("di"), go("go"), gi("gi");
  const int heads = point.at("value_heads"), value_lanes = a.cut.value_lanes;
  a.group_sum.compute_at(a.partial, at).bound_extent(a.g, a.group).vectorize(a.d, value_lanes).unroll(a.d).unroll(a.g);
  Stage update = a.group_sum.update();
  update.split(a.d, dd, di, value_tile).split(a.g, go, gi, heads);
  if (a.cut.bf16_pairs) {
    update.reorder(a.sum_keys.x, di, gi, a.sum_keys.y, go, dd, a.sum_keys.z).atomic().vectorize(a.sum_keys.x);
    a.value_pairs.compute_at(a.group_sum, a.sum_keys.z).bound(a.e, 0, 2).reorder(a.e, a.d, a.k).vectorize(a.d, pair_lanes).unroll(a.e).unroll(a.d);
    a.weight_pair.compute_at(a.weight_pairs, a.k).vectorize(a.k, a.cut.dot_keys);
    a.weight_pairs.compute_at(a.partial, at).bound(a.e, 0, 2).bound_extent(a.g, a.group).bound_extent(a.k, a.cut.key_chunk / 2);
  } else {
    update.reorder(di, gi, a.sum_keys.x, go, dd, a.sum_keys.y);
  }
  update.vectorize(di, value_lanes).unroll(di).unroll(gi).unroll(a.cut.bf16_pairs ? a.sum_keys.y : a.sum_keys.x, point.at("value_unroll"));
}
} // namespace

void schedule_cpu_decode(decode_attention &a, Func result, const operator_description &op, const target_info &target, const schedule_point &point) {
  const int value_lanes = a.cut.value_lanes;
  int value_tile = value_lanes * point.at("value_vectors");
  while (op.n.value_dim % value_tile != 0) value_tile -= value_lanes;

  // Chunks, key heads and batches are tasks of one parallel loop, in the order in which the keys of a head lie in memory.
  Var task("task");
  a.partial.compute_root().bound(a.x, 0, a.partial_extent()).bound(a.g, 0, a.group).reorder(a.x, a.g, a.n, a.c, a.h, a.b).fuse(a.c, a.h, task).fuse(task, a.b, task)
      .parallel(task).vectorize(a.x, value_lanes).unroll(a.x);
  const Var &at = a.n;
  if (a.has_tile_map) a.tile_map.compute_at(a.partial, task);
  a.query_rows.compute_at(a.partial, at).bound(a.d, 0, op.n.head_dim).bound_extent(a.g, a.group).vectorize(a.d, lanes_for(op.n.head_dim, f32_lanes(target)));
  schedule_scores(a, point, at);
  schedule_row(a.lane_maximum, a.chunk_maximum, a.maximum_keys, a.maximum_lanes, a, at);
  a.weights.compute_at(a.partial, at).bound_extent(a.k, a.cut.key_chunk).bound_extent(a.g, a.group).vectorize(a.k, a.cut.dot_keys);
  schedule_row(a.lane_total, a.chunk_total, a.total_keys, a.total_lanes, a, at);
  schedule_sum(a, value_tile, lanes_for(op.n.value_dim, 2 * value_lanes), point, at);

  result.reorder(a.d, a.q, a.h, a.b).fuse(a.h, a.b, task).parallel(task).vectorize(a.d, value_lanes);
  for (Func *f : {&a.maximum, &a.total, &a.chunk_weight}) f->compute_at(result, task);
  a.merged.compute_at(result, a.q).vectorize(a.d, value_lanes);
  a.merged.update().reorder(a.d, a.merged_chunks.x).vectorize(a.d, value_lanes);
}

} // namespace attune

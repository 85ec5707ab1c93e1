#include "schedules/cpu_decode.hpp"
#include "schedules/cpu_blocked.hpp"
#include "schedules/cpu_vectors.hpp"
#include "dsl/pipeline/element.hpp"
#include "dsl/pipeline/mask.hpp"
#include <algorithm>

namespace attune {
using namespace Halide;

namespace {
bool is_8_bit(const operator_description &op) { return stored_type(cache_element(op.n)).bytes() == 1; }
/// Whether keys of a chunk may be taken in another order than theirs; why not, in one sentence.
std::string streams_why_not(const operator_description &op) {
  if (!is_affine(op)) return "key_streams must be 1 where masks are tensors, tables or functions: their empty blocks are skipped one by one";
  if (is_paged(op.n)) return "key_streams must be 1 where keys come in pages: the rows of a page are read together";
  const auto by_key = [](const input_declaration &i) { return i.role == tensor_role::input && std::count(i.axes, i.axes + i.rank, axis_name::key) > 0; };
  const bool reads_by_key = op.n.cache.scale == kv_scaling::per_token || std::any_of(op.inputs.begin(), op.inputs.end(), by_key);
  return reads_by_key ? "key_streams must be 1 where scores read a tensor by key: a vector of keys in order is one load" : "";
}

// A core reads memory faster in four streams of a few rows, the next rows asked for ahead, than in one. One Xeon core, GB/s in 1 / 2 / 4 streams, 16,384
// keys: f32 32:8 heads of 128 11.2 / 11.2 / 14.3, 12:12 of 64 14.4 / 15.9 / 16.1; avx2 11.5 / 14.7 / 14.6 and 13.5 / 16.5 / 17.0. 8,192 keys, 1 / 4:
// int8 32:8 of 128 5.2 / 7.1, f32 8:8 of 256 13.4 / 15.1, 4:4 of 512 12.5 / 11.0. From the third cache they are alike; from the second four streams lose
// 2 to 8 %, for what it takes to count in them. Zen 4: one and four within 3 %.
int default_streams(const operator_description &op, const target_info &target) {
  constexpr int longest_row = 1024; // bytes
  const bool measured = target.host == architecture::x86_64 && !target.dot_bf16, short_rows = std::max(op.n.head_dim, op.n.value_dim) * stored_type(cache_element(op.n)).bytes() <= longest_row;
  return measured && short_rows && streams_why_not(op).empty() ? 4 : 1;
}

// Pages: a head's keys of a page are too few for the machine to fetch ahead by itself. 32:8 heads of 128, pages of 16 keys, 8,192 keys, one Zen 4
// core: f32 6.5 ms without fetching, 3.5 with (-46 %); bf16 3.8, 2.0 (-47 %); from one tensor 2.3 and 1.3. Rows of 4 keys at a time: 2, 8, 16 take
// f32 +3, +24, +45 %; 1 to 4 blocks ahead are alike.
constexpr int page_keys = 4, page_blocks_before = 2, least_page = 8;
/// Not where a tile map limits the loop over keys, which stays whole: Halide trims no part of a split one.
bool fetches_pages(const operator_description &op) { return op.n.cache.page_size >= least_page && is_affine(op); }

/// From so many heads on that share a key head, decoding is bound by arithmetic rather than by memory.
constexpr int many_heads = 8;
} // namespace

std::string cpu_decode_why_not(const operator_description &op, length_bucket bucket) {
  if (!has_decode(op.n)) return "decode is for calls with few queries, and the queries and keys of this spec come from the same tokens or are projected";
  return is_decode(bucket) ? "" : "decode is for calls with few queries";
}

namespace {
/// A vector of bf16 is loaded once for the features in its even places and those in its odd ones.
int halves_of(const operator_description &op, const target_info &target) {
  return cache_element(op.n) == element_type::bf16 && op.n.value_dim % 2 == 0 && !multiplies_pairs(op, target) ? 2 : 1;
}
int value_lanes_of(const operator_description &op, const target_info &target) { return lanes_for(op.n.value_dim / halves_of(op, target), f32_lanes(target)); }
} // namespace

decode_blocking decode_blocking_of(const operator_description &op, const target_info &target, const schedule_point &p) {
  const bool pairs = multiplies_pairs(op, target);
  return {p.at("key_chunk"), p.at("key_block"), f32_lanes(target), p.at("key_streams"), lanes_for(pairs ? op.n.head_dim / 2 : op.n.head_dim, f32_lanes(target)),
          value_lanes_of(op, target), halves_of(op, target), pairs};
}

std::vector<schedule_parameter> cpu_decode_parameters(const operator_description &op, const target_info &target) {
  std::vector<int> vectors{1}; // beyond a value's own they make no other kernel
  while (vectors.back() < std::min(16, op.n.value_dim / value_lanes_of(op, target))) vectors.push_back(2 * vectors.back());
  return {{"key_chunk", "keys of one partial result, which one core computes", {128, 256, 512, 1024, 2048}},
          {"key_block", "keys that are skipped together, and that the weighted sum takes at a time", {16, 32, 64}},
          {"key_streams", "runs of a chunk's keys that are read in turn", {1, 2, 4, 8}},
          {"dot_unroll", "keys whose dot products are computed at a time", {1, 2, 4, 8}},
          {"value_heads", "heads in one register tile of the weighted sum", {1, 2, 4, 8}},
          {"value_vectors", "vectors of features in one register tile of the weighted sum", vectors},
          {"value_unroll", "keys that the weighted sum takes at a time", {1, 2, 4}}};
}

schedule_point cpu_decode_default(const operator_description &op, const target_info &target) {
  // Whole rows of values before more heads: memory is read in order. 32:8 heads of 128, bf16, 16,384 keys, one Zen 4 core: 0.80
  // of memory read with 8 vectors of 2 heads, 0.75 with 4 of 4. Long chunks: a stream is lost at the end of each; key_chunk 512 / 1024 /
  // 2048: .70 / .70 / .74, 12:12 heads of 64 .83 / .89 / .90. Four dot products are added up across the lanes in half the time of four times one.
  // Short blocks stay in the first cache while each pair of heads takes them: 32:8 of 128, f32, 4,096 keys: 1.18 ms with key_block 16,
  // 1.41 with 32.
  // Values of a few keys at a time, where keys may come in streams; elsewhere not measured. One Xeon core, of 1, 2 and 4 keys the best
  // against 1: bf16 12:12 of 64 4 (+9 % with 512 keys, +4 % with 16,384), avx2 2 (+7 %); 32:8 of 128, avx512: 2 (0 to +2 %; 4 takes 9 to
  // 13 % more in f32), avx2 bf16 2 (+7 %), int8 2 (+12 %); f32 12:12 alike.
  const int group = op.n.heads / op.n.kv_heads, accumulators = target.vector_registers / 2;
  // Wide values are read by rows (schedule_sum) in tiles of any shape: most heads at once. Pairs of bf16 want whole rows in a tile, of 16 vectors too.
  // Eight bits: all heads on half a row, so that each code is converted once: 32:8 of 128, 8,192 keys: e4m3 and e5m2 -9 %, int8 -2 %.
  const bool few = group < many_heads, by_rows = few && op.n.value_dim > 8 * f32_lanes(target) && !multiplies_pairs(op, target);
  const int most_vectors = is_8_bit(op) ? 4 : few ? 16 : 8;
  int vectors = 1, heads = 1;
  while (by_rows && heads < 4 && group % (2 * heads) == 0) heads *= 2;
  while (vectors < most_vectors && 2 * heads * vectors <= accumulators && vectors * f32_lanes(target) < op.n.value_dim) vectors *= 2;
  while (group % (2 * heads) == 0 && 2 * heads * vectors <= accumulators) heads *= 2;
  const int streams = default_streams(op, target), keys_of_stream = f32_lanes(target) / streams;
  const int value_unroll = streams == 1 ? 1 : std::min(heads == 1 ? 4 : 2, keys_of_stream);
  return {"decode", {{"key_chunk", 2048}, {"key_block", 16}, {"key_streams", streams}, {"dot_unroll", std::min(4, keys_of_stream)}, {"value_heads", heads}, {"value_vectors", vectors}, {"value_unroll", value_unroll}}, "default"};
}

std::string cpu_decode_broken_rule(const operator_description &op, const target_info &target, const schedule_point &p) {
  const decode_blocking cut = decode_blocking_of(op, target, p);
  for (const std::string &broken :
       {divides("key_block", cut.key_block, "key_chunk", cut.key_chunk), divides("the lanes of a vector", cut.dot_keys, "key_block", cut.key_block),
        divides("key_streams", cut.key_streams, "the lanes of a vector", cut.dot_keys), cut.key_streams > 1 ? streams_why_not(op) : "",
        cut.bf16_pairs ? divides("two keys of a pair", 2, "the lanes of a vector / key_streams", cut.dot_keys / cut.key_streams) : "",
        divides("dot_unroll", p.at("dot_unroll"), "the lanes of a vector / key_streams", cut.dot_keys / cut.key_streams),
        divides("value_heads", p.at("value_heads"), "the heads that share a key head", op.n.heads / op.n.kv_heads),
        divides("value_unroll", p.at("value_unroll"), "key_block", cut.key_block),
        fetches_pages(op) ? divides("value_unroll", p.at("value_unroll"), "the keys of a page that are asked for together", page_keys) : "",
        cut.key_streams > 1 ? divides("value_unroll", p.at("value_unroll"), "the lanes of a vector / key_streams", cut.dot_keys / cut.key_streams) : "",
        fits_scratch(op.n.heads / op.n.kv_heads, cut.key_chunk), fits_registers("value_heads x value_vectors", p.at("value_heads"), p.at("value_vectors"), target)})
    if (!broken.empty()) return broken;
  return "";
}

namespace {
// Streams: rows a little on in each are asked for, into the first cache. 16,384 keys, one Xeon core in a slower hour, GB/s without, 256, 512, 1,024 and
// 2,048 bytes on: f32 32:8 heads of 128 12.3 / – / 14.1 / 13.8 / 11.2, 12:12 of 64 13.8 / 13.2 / 14.4 / 13.7 / 13.8; bf16 12:12 of 64 14.8 / 14.7 / 15.4 / 14.4 / –.
constexpr int stream_bytes_before = 512;

bool fetches_streams(const decode_attention &a) { return a.cut.key_streams > 1; }
/// Keys whose rows of values are asked for together; 0: none are.
int fetched_keys(const decode_attention &a, const operator_description &op) { return fetches_pages(op) ? page_keys : fetches_streams(a) ? a.cut.dot_keys / a.cut.key_streams : 0; }

/// Heads that share a key head and are computed together: as many as leave registers for their sums.
int heads_together(int group) { return group % 4 == 0 ? 4 : group % 3 == 0 ? 3 : group % 2 == 0 ? 2 : 1; }

void schedule_scores(decode_attention &a, const schedule_point &point, const Var &at) {
  Var ko("score_step"), ki("ki"), go("go"), gi("gi"), zo("zo"), zi("zi");
  const int lanes = a.cut.lanes, keys = a.cut.dot_keys, unroll = point.at("dot_unroll"), heads = heads_together(a.group);
  const int steps = unrolled(a.steps());
  a.scores.compute_at(a.partial, at).bound_extent(a.u, keys).bound_extent(a.k, a.cut.key_chunk / keys).bound_extent(a.g, a.group);
  if (a.has_tile_map) a.scores.update(0).reorder(a.u, a.g, a.unscored_keys.x).vectorize(a.u, keys);
  a.scores.update(a.has_tile_map ? 1 : 0).reorder(a.u, a.g, a.score_keys.x, a.score_keys.y).vectorize(a.u, keys);
  // All heads of a group side by side: the sums across the lanes of all of them and of dot_unroll keys are one tree. 32:8 heads of 128,
  // f32, one Zen 4 core: 0.85 of the memory read beside, 0.83 with a tree for each head.
  const bool one_tree = heads == a.group;
  a.dot.compute_at(a.scores, a.score_keys.x).bound_extent(a.k, keys).bound_extent(a.g, a.group);
  if (one_tree) a.dot.split(a.k, zo, zi, unroll).vectorize(a.g, heads).vectorize(zi); // as wide as they are read again: else the read waits for the stores
  else a.dot.reorder_storage(a.k, a.g, a.n, a.c, a.h, a.b).vectorize(a.k, keys);
  a.dot.update().split(a.k, ko, ki, unroll).split(a.g, go, gi, heads);
  if (one_tree) a.dot.update().reorder(a.lanes.x, gi, ki, go, ko).atomic().vectorize(a.lanes.x).vectorize(gi).vectorize(ki);
  else a.dot.update().reorder(a.lanes.x, ki, gi, go, ko).atomic().vectorize(a.lanes.x).vectorize(ki).unroll(gi);
  a.lane_sums.compute_at(a.dot, go).bound_extent(a.u, lanes).bound_extent(a.g, heads).bound_extent(a.k, unroll).vectorize(a.u, lanes).unroll(a.g).unroll(a.k);
  if (a.cut.bf16_pairs)
    a.lane_sums.update().reorder(a.features.x, a.u, a.g, a.features.y, a.k).atomic().vectorize(a.features.x).vectorize(a.u, lanes).unroll(a.g)
        .unroll(a.features.y, steps).unroll(a.k);
  else a.lane_sums.update().reorder(a.u, a.g, a.features.x, a.k).vectorize(a.u, lanes).unroll(a.g).unroll(a.features.x, steps).unroll(a.k);
}

/// Maximum and total of a chunk: lane by lane, then once across the lanes.
void schedule_row(Func by_lane, Func row, const RDom &keys, const RDom &lanes, decode_attention &a, const Var &at) {
  by_lane.compute_at(a.partial, at).bound_extent(a.u, a.cut.dot_keys).bound_extent(a.g, a.group).vectorize(a.u, a.cut.dot_keys);
  by_lane.update().reorder(a.u, a.g, keys.x).vectorize(a.u, a.cut.dot_keys);
  row.compute_at(a.partial, at).bound_extent(a.g, a.group);
  row.update().reorder(lanes.x, a.g).atomic().vectorize(lanes.x);
}

/// Of the weighted sum, in the features of one half.
int value_tile(const decode_attention &a, const operator_description &op, const schedule_point &point) {
  const int lanes = a.cut.value_lanes;
  return lanes * divisor_of(op.n.value_dim / a.cut.halves / lanes, std::max(1, point.at("value_vectors") / a.cut.halves));
}
bool reads_by_rows(const decode_attention &a, const operator_description &op, int tile) {
  return tile < op.n.value_dim / a.cut.halves && a.group < many_heads && !a.cut.bf16_pairs && !is_8_bit(op);
}

void schedule_sum(decode_attention &a, const operator_description &op, const schedule_point &point, const Var &at) {
  Var dd("dd"), di("di"), go("go"), gi("gi");
  const int lanes = a.cut.value_lanes, extent = op.n.value_dim / a.cut.halves;
  const int tile = value_tile(a, op, point);
  a.group_sum.compute_at(a.partial, at).bound(a.e, 0, a.cut.halves).bound_extent(a.g, a.group).bound_extent(a.d, extent).vectorize(a.d, lanes).unroll(a.d, unrolled(extent / lanes)).unroll(a.e);
  // Values wider than a tile: one after the other, so that memory is read in order, though their sums do not stay in registers. 256 features,
  // f32, 8,192 keys, in parts of the memory read beside, by tiles and by rows: avx512 1 / 2 / 4 heads .45 / .49 / .40 and .89 / .83 / .70, avx2 .50 /
  // .45 / .34 and .87 / .70 / .60; 16 heads of 512: .20 and .17.
  const bool by_rows = reads_by_rows(a, op, tile);
  // In each block of keys `fetched` at a time, all heads on them, so that later rows are asked for now and then.
  const int fetched = fetched_keys(a, op);
  const bool fetching = fetched > 0;
  RVar step("sum_step"), in_step("in_step");
  const auto loops = [&](std::vector<VarOrRVar> of_tile, const RVar &keys, const RVar &block, int count) {
    Stage update = a.group_sum.update();
    if (fetching) update.split(keys, step, in_step, count);
    if (by_rows) of_tile.push_back(dd);
    of_tile.insert(of_tile.end(), {fetching ? in_step : keys, go});
    if (fetching) of_tile.push_back(step);
    if (!by_rows) of_tile.push_back(dd);
    of_tile.push_back(block);
    update.split(a.d, dd, di, tile).split(a.g, go, gi, point.at("value_heads")).reorder(of_tile);
    return fetching ? in_step : keys;
  };
  if (a.cut.bf16_pairs) {
    // Two rows become pairs in registers, anew for each register tile of heads. 32:8 heads of 128, one Zen 4 core: 24–25 GB/s, 0.74–0.77 of
    // the memory read beside (0.70 of its highest); 22.3 (0.67; 0.64) without pairs. Pairs of a block kept in the first cache: 20-21 GB/s, in tiles of any shape.
    const RDom &keys = a.sum_keys;
    const RVar pair = loops({keys.x, di, a.e, gi}, keys.y, keys.z, fetched / 2);
    a.value_pairs.compute_at(a.group_sum, pair).bound(a.e, 0, 2).reorder(a.e, a.d, a.k).vectorize(a.d, lanes_for(tile, 2 * lanes)).unroll(a.e).unroll(a.d);
    a.group_sum.update().atomic().vectorize(keys.x).vectorize(di, lanes).unroll(di).unroll(a.e).unroll(gi).unroll(pair, std::max(1, point.at("value_unroll") / 2));
    return;
  }
  const RVar key = loops({di, a.e, gi}, a.sum_keys.x, a.sum_keys.y, fetched);
  a.group_sum.update().vectorize(di, lanes).unroll(di).unroll(a.e).unroll(gi).unroll(key, point.at("value_unroll"));
}
} // namespace

std::vector<rows_ahead> cpu_decode_fetches(const decode_attention &a, const call_arguments &args, const operator_description &op, const schedule_point &point) {
  const int fetched = fetched_keys(a, op);
  if (fetched == 0) return {};
  const bool pages = fetches_pages(op);
  const int bytes = stored_type(cache_element(op.n)).bytes(), unroll = point.at("dot_unroll"), tile = value_tile(a, op, point);
  const auto stride = [](const ImageParam &tensor) { return Internal::Variable::make(Int(32), tensor.name() + ".stride.1"); };
  const std::string score_block = a.score_keys.y.name(), score_step = unroll < a.cut.dot_keys ? "score_step" : a.score_keys.x.name();
  const std::string sum_block = (a.cut.bf16_pairs ? a.sum_keys.z : a.sum_keys.y).name();
  const auto ahead = [&](const ImageParam &tensor, const std::string &block, const std::string &step, int rows, int dim, int read) {
    return rows_ahead{tensor.name(), block, step, pages ? page_blocks_before : 0, pages ? 0 : std::max(1, stream_bytes_before / (dim * bytes)), rows, read * bytes, stride(tensor),
                      pages ? cache_level::second : cache_level::first};
  };
  const rows_ahead values = ahead(args.value, sum_block, "sum_step", fetched, op.n.value_dim, reads_by_rows(a, op, tile) ? op.n.value_dim : tile * a.cut.halves);
  if (op.n.rope.dims > 0 && !op.n.rope.keys_rotated) return {values}; // scores read a rotated copy of the keys
  return {values, ahead(args.key, score_block, score_step, unroll, op.n.head_dim, op.n.head_dim)};
}

void schedule_cpu_decode(decode_attention &a, Func result, const std::vector<Func> &of_rows, const operator_description &op, const target_info &target, const schedule_point &point) {
  const int value_lanes = lanes_for(op.n.value_dim, f32_lanes(target));
  // Chunks, key heads and batches are tasks of one parallel loop, in the order in which the keys of a head lie in memory.
  Var task("task");
  a.partial.compute_root().bound(a.x, 0, a.partial_extent()).bound(a.g, 0, a.group).reorder(a.x, a.g, a.n, a.c, a.h, a.b).fuse(a.c, a.h, task).fuse(task, a.b, task)
      .parallel(task).vectorize(a.x, value_lanes).unroll(a.x, unrolled(a.partial_extent() / value_lanes));
  const Var &at = a.n;
  if (a.has_tile_map) {
    a.tile_map.compute_at(a.partial, task);
    a.classify.compute_ranges_at(a.partial, task);
  }
  // Looked up once for a chunk, not with each vector of a key. (Returned weights and scores read keys too, outside of these tasks.)
  if (is_paged(op.n) && !op.n.returns_weights && !returns_scores(op.n)) a.page().compute_at(a.partial, task);
  a.query_rows.compute_at(a.partial, at).bound(a.d, 0, op.n.head_dim).bound_extent(a.g, a.group).vectorize(a.d, lanes_for(op.n.head_dim, f32_lanes(target)));
  schedule_scores(a, point, at);
  if (a.normalises()) schedule_row(a.lane_maximum, a.chunk_maximum, a.maximum_keys, a.maximum_lanes, a, at);
  a.weights.compute_at(a.partial, at).bound_extent(a.u, a.cut.dot_keys).bound_extent(a.k, a.cut.key_chunk / a.cut.dot_keys).bound_extent(a.g, a.group);
  a.weights.update().reorder(a.u, a.g, a.weight_keys.x).vectorize(a.u, a.cut.dot_keys);
  if (a.normalises()) schedule_row(a.lane_total, a.chunk_total, a.total_keys, a.total_lanes, a, at);
  schedule_sum(a, op, point, at);

  result.reorder(a.d, a.q, a.h, a.b).vectorize(a.d, value_lanes);
  const bool shared = !of_rows.empty(); // of a fused loop that Funcs share Halide cannot tell that all of them are at one head
  if (shared) result.never_partition(a.h, a.b).parallel(a.h);
  else result.fuse(a.h, a.b, task).parallel(task);
  for (Func f : of_rows) f.reorder(a.q, a.h, a.b).never_partition(a.h, a.b).parallel(a.h).compute_with(result, a.h);
  if (a.normalises())
    for (Func *f : {&a.maximum, &a.total, &a.chunk_weight}) {
      f->compute_at(result, shared ? a.h : task);
      if (shared) f->bound_extent(a.h, 1).bound_extent(a.b, 1);
    }
  a.merged.compute_at(result, a.q).vectorize(a.d, value_lanes);
  a.merged.update().reorder(a.d, a.merged_chunks.x).vectorize(a.d, value_lanes);
}

} // namespace attune

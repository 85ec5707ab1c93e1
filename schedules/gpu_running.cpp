#include "schedules/gpu_running.hpp"
#include "dsl/pipeline/gpu_attention.hpp"
#include "dsl/pipeline/rotary.hpp"
#include "schedules/build.hpp"
#include "schedules/gpu_passes.hpp"
#include <algorithm>

namespace attune {
using namespace Halide;

namespace {

constexpr const char *family = "gpu_running";
/// What a thread block may use without opting in, on every CUDA device and most OpenCL ones.
constexpr std::int64_t largest_shared_bytes = 48 * 1024;
constexpr int bank_padding = 4; ///< f32 per row of a shared tile: rows start in different banks and stay 16-byte aligned

int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

gpu_tile tile_of(const numbers &n, const schedule_point &p) {
  gpu_tile t;
  t.queries = p.at("query_tile"), t.keys = p.at("key_tile");
  t.thread_queries = p.at("thread_queries"), t.thread_keys = p.at("thread_keys");
  t.padded_head_dim = round_up(n.head_dim, p.at("dim_unroll"));
  t.thread_values = round_up(n.value_dim, gpu_value_lanes * t.columns()) / t.columns();
  return t;
}

/// Registers that a thread holds at once at the worst place, in the weighted sum: state, block output, fragments, addresses.
int registers_of(const gpu_tile &t) {
  const int state = t.thread_queries * (2 + t.thread_values), sums = t.thread_queries * t.thread_values;
  return state + sums + 4 * t.thread_queries + t.thread_values + 24;
}

std::int64_t shared_bytes_of(const gpu_tile &t) {
  const std::int64_t query_tile = t.queries * (t.padded_head_dim + bank_padding), key_tile = t.keys * (t.padded_head_dim + bank_padding);
  const std::int64_t value_tile = t.keys * t.padded_value_dim(), weights = t.queries * t.columns() * (t.thread_keys + 1);
  return 4 * (query_tile + std::max(key_tile, value_tile) + weights + 2 * t.queries);
}

std::string values_are_known(const operator_description &, const target_info &, const schedule_point &p) {
  for (const schedule_parameter &parameter : gpu_parameters()) {
    const int value = p.at(parameter.name);
    if (std::find(parameter.values.begin(), parameter.values.end(), value) != parameter.values.end()) continue;
    std::string known;
    for (const int v : parameter.values) known += (known.empty() ? "" : ", ") + std::to_string(v);
    return parameter.name + " " + std::to_string(value) + " is not one of " + known;
  }
  return {};
}

std::string tiles_divide(const operator_description &, const target_info &, const schedule_point &p) {
  const int q = p.at("query_tile"), k = p.at("key_tile"), tq = p.at("thread_queries"), tk = p.at("thread_keys");
  if (q % tq != 0) return "query_tile " + std::to_string(q) + " is not a multiple of thread_queries " + std::to_string(tq);
  if (k % tk != 0) return "key_tile " + std::to_string(k) + " is not a multiple of thread_keys " + std::to_string(tk);
  return {};
}

std::string threads_fit(const operator_description &op, const target_info &, const schedule_point &p) {
  const gpu_tile t = tile_of(op.n, p);
  const int threads = t.columns() * t.rows();
  if (threads > 1024) return "a thread block would have " + std::to_string(threads) + " threads; at most 1024 are allowed";
  if (t.columns() % p.at("key_unroll") != 0) return "the " + std::to_string(t.columns()) + " threads of a row are not a multiple of key_unroll " + std::to_string(p.at("key_unroll"));
  if (t.columns() < t.thread_queries) return "thread_queries " + std::to_string(t.thread_queries) + " is above the " + std::to_string(t.columns()) + " threads of a row";
  return {};
}

std::string staging_divides(const operator_description &op, const target_info &, const schedule_point &p) {
  const gpu_tile t = tile_of(op.n, p);
  const int threads = t.columns() * t.rows(), lanes = p.at("stage_lanes");
  for (const int elements : {t.queries * t.padded_head_dim, t.keys * t.padded_head_dim, t.keys * t.padded_value_dim()})
    if (elements % (threads * lanes) != 0)
      return "a tile of " + std::to_string(elements) + " elements does not divide among " + std::to_string(threads) + " threads of " + std::to_string(lanes) + " lanes";
  return {};
}

std::string registers_fit(const operator_description &op, const target_info &, const schedule_point &p) {
  const gpu_tile t = tile_of(op.n, p);
  const int threads = t.columns() * t.rows(), allowed = std::min(255, 65536 / threads), needed = registers_of(t);
  if (needed > allowed) return "a thread would need about " + std::to_string(needed) + " registers; " + std::to_string(allowed) + " are there";
  return {};
}

std::string shared_memory_fits(const operator_description &op, const target_info &, const schedule_point &p) {
  const std::int64_t bytes = shared_bytes_of(tile_of(op.n, p));
  if (bytes <= largest_shared_bytes) return {};
  return "a thread block would need " + std::to_string(bytes) + " bytes of shared memory; " + std::to_string(largest_shared_bytes) + " are there";
}

schedule_point point(int query_tile, int key_tile, int thread_queries, int thread_keys) {
  return {family,
          {{"query_tile", query_tile}, {"key_tile", key_tile}, {"thread_queries", thread_queries}, {"thread_keys", thread_keys},
           {"dim_unroll", 4}, {"key_unroll", 4}, {"stage_lanes", 1}},
          "default"};
}

/// Largest first: the first legal one is the default.
std::vector<schedule_point> default_points() { return {point(64, 32, 4, 4), point(32, 32, 4, 2), point(16, 16, 2, 1)}; }

/// Rows and columns of a tile over the threads of a block: consecutive threads load consecutive elements.
void stage(Func f, const gpu_attention &a, int lanes) {
  Var lane("stage_lane"), group("stage_group"), flat("stage_flat"), round("stage_round"), thread("stage_thread"), tx("stage_x"), ty("stage_y");
  f.store_in(MemoryType::GPUShared);
  const int columns = a.tile.columns(), threads = columns * a.tile.rows();
  f.split(a.dim, group, lane, lanes).fuse(group, a.tile_row, flat).split(flat, round, thread, threads).split(thread, ty, tx, columns)
      .reorder(lane, round, tx, ty).unroll(round).gpu_threads(tx, ty);
  if (lanes > 1) f.vectorize(lane);
}

/// One value per row of the tile, computed from all columns: the threads of a row share its `thread_queries` rows.
void reduce_rows(Func f, gpu_attention &a, const std::vector<RVar> &reduced) {
  f.compute_at(a.state, a.steps.x).store_in(MemoryType::GPUShared).gpu_threads(a.query_row, a.y);
  std::vector<VarOrRVar> order(reduced.begin(), reduced.end());
  order.insert(order.end(), {a.query_row, a.y});
  f.update().reorder(order).gpu_threads(a.query_row, a.y);
  for (const RVar &r : reduced) f.update().unroll(r);
}

void schedule_results(gpu_attention &a) {
  Var in_tile("in_tile"), group("group"), in_group("in_group");
  const int columns = a.tile.columns(), rows = a.tile.rows();
  a.output.split(a.row, a.block, in_tile, a.tile.queries, TailStrategy::GuardWithIf).split(in_tile, a.query_row, a.y, rows)
      .split(a.dim, group, in_group, gpu_value_lanes * columns, TailStrategy::GuardWithIf).split(in_group, a.x, a.lane, gpu_value_lanes)
      .reorder(a.lane, group, a.query_row, a.x, a.y, a.block, a.head, a.batch)
      .unroll(a.lane).unroll(group).unroll(a.query_row).gpu_blocks(a.block, a.head, a.batch).gpu_threads(a.x, a.y);
  if (!a.lse.defined()) return;
  Var one("one");
  a.lse.split(a.row, a.block, in_tile, a.tile.queries, TailStrategy::GuardWithIf).split(in_tile, a.query_row, a.y, rows).split(a.y, a.y, one, 1)
      .reorder(a.query_row, one, a.y, a.block, a.head, a.batch)
      .unroll(a.query_row).gpu_blocks(a.block, a.head, a.batch).gpu_threads(one, a.y);
  a.lse.compute_with(a.output, a.block);
}

void schedule_scores(gpu_attention &a, const schedule_point &p) {
  const RVar step = a.steps.x;
  RVar outer("dim_outer"), inner("dim_inner");
  a.score.compute_at(a.state, step).store_in(MemoryType::Register).reorder(a.key_column, a.query_row, a.x, a.y)
      .unroll(a.key_column).unroll(a.query_row).gpu_threads(a.x, a.y);
  a.dot.compute_at(a.score, a.x).unroll(a.key_column).unroll(a.query_row);
  a.dot.update().split(a.head_dims, outer, inner, p.at("dim_unroll")).reorder(a.key_column, a.query_row, inner, outer)
      .unroll(a.key_column).unroll(a.query_row).unroll(inner);
  a.key_fragment.compute_at(a.dot, outer).vectorize(a.dim).unroll(a.key_column);
  a.query_fragment.compute_at(a.dot, outer).vectorize(a.dim).unroll(a.query_row);
}

void schedule_weights(gpu_attention &a) {
  const RVar step = a.steps.x;
  if (a.normalises) {
    a.thread_max.compute_at(a.state, step).store_in(MemoryType::GPUShared).reorder(a.query_row, a.x, a.y).unroll(a.query_row).gpu_threads(a.x, a.y);
    a.thread_max.update().reorder(a.thread_key_columns.x, a.query_row, a.x, a.y).unroll(a.thread_key_columns.x).unroll(a.query_row).gpu_threads(a.x, a.y);
    reduce_rows(a.block_max, a, {a.thread_columns.x});
    reduce_rows(a.block_sum, a, {a.block_keys.x, a.block_keys.y});
  }
  a.weight.compute_at(a.state, step).store_in(MemoryType::GPUShared).reorder_storage(a.x, a.key_column, a.y, a.query_row)
      .align_storage(a.key_column, a.tile.thread_keys + 1).reorder(a.key_column, a.query_row, a.x, a.y)
      .unroll(a.key_column).unroll(a.query_row).gpu_threads(a.x, a.y);
}

void schedule_weighted_sum(gpu_attention &a, const schedule_point &p) {
  RVar outer("key_outer"), inner("key_inner");
  a.state.compute_at(a.output, a.block).store_in(MemoryType::Register).reorder(a.query_row, a.x, a.y).unroll(a.query_row).gpu_threads(a.x, a.y);
  a.state.update().reorder(a.query_row, a.x, a.y, a.steps.x).unroll(a.query_row).gpu_threads(a.x, a.y);
  a.block_output.compute_at(a.state, a.x).unroll(a.feature).unroll(a.query_row);
  a.block_output.update().split(a.block_keys.x, outer, inner, p.at("key_unroll")).reorder(a.feature, a.query_row, inner, outer, a.block_keys.y)
      .unroll(a.feature).unroll(a.query_row).unroll(inner);
  a.weight_fragment.compute_at(a.block_output, outer).vectorize(a.x).unroll(a.query_row).unroll(a.key_column);
  a.value_fragment.compute_at(a.block_output, inner).vectorize(a.lane).unroll(a.lane_group).unroll(a.tile_row);
}

/// Tiles have constant extents whatever conditions the scores hold: shared memory and registers need them.
void fix_extents(gpu_attention &a) {
  std::vector<Func> of_block{a.score, a.weight, a.dot, a.block_output};
  if (a.normalises) of_block.insert(of_block.end(), {a.thread_max, a.block_max, a.block_sum});
  for (Func f : of_block) f.bound_extent(a.step, 1).bound_extent(a.block, 1).bound_extent(a.head, 1).bound_extent(a.batch, 1);
  for (Func f : {a.key_tile, a.value_tile}) f.bound_extent(a.step, 1).bound_extent(a.head, 1).bound_extent(a.batch, 1);
  for (Func f : {a.query_tile, a.state}) f.bound_extent(a.block, 1).bound_extent(a.head, 1).bound_extent(a.batch, 1);
  for (Func f : {a.score, a.dot}) f.bound(a.key_column, 0, a.tile.thread_keys).bound(a.query_row, 0, a.tile.thread_queries);
}

/// Angles of all positions in a kernel of their own, before the attention: every tile and head reads them again. Turns of the pairs come
/// from the host: a table of constants in device code would be one buffer for all calls and threads.
void schedule_angles(gpu_attention &a, int pairs) {
  if (!a.angles.defined()) return;
  constexpr int pairs_of_block = 32, rows_of_block = 4;
  const std::vector<Var> axes = a.angles.args();
  Var pair_block("pair_block"), row_block("row_block"), pair_in("pair_in"), row_in("row_in");
  a.turns.compute_root();
  a.angles.compute_root().bound(axes[0], 0, pairs).split(axes[0], pair_block, pair_in, pairs_of_block, TailStrategy::GuardWithIf)
      .split(axes[1], row_block, row_in, rows_of_block, TailStrategy::GuardWithIf);
  std::vector<VarOrRVar> order{pair_in, row_in, pair_block, row_block};
  if (axes.size() > 2) order.emplace_back(axes[2]);
  a.angles.reorder(order).gpu_threads(pair_in, row_in).gpu_blocks(pair_block, row_block);
  if (axes.size() > 2) a.angles.gpu_blocks(axes[2]);
}

void schedule(gpu_attention &a, const schedule_point &p, int rotary_pairs) {
  schedule_angles(a, rotary_pairs);
  schedule_results(a);
  schedule_weighted_sum(a, p);
  schedule_scores(a, p);
  schedule_weights(a);
  fix_extents(a);
  a.query_tile.compute_at(a.output, a.block).align_storage(a.dim, a.tile.padded_head_dim + bank_padding);
  a.key_tile.compute_at(a.state, a.steps.x).align_storage(a.dim, a.tile.padded_head_dim + bank_padding);
  a.value_tile.compute_at(a.state, a.steps.x);
  for (Func f : {a.query_tile, a.key_tile, a.value_tile}) stage(f, a, p.at("stage_lanes"));
}

} // namespace

const std::vector<schedule_parameter> &gpu_parameters() {
  static const std::vector<schedule_parameter> parameters{
      {"query_tile", "queries per thread block", {16, 32, 64, 128}},
      {"key_tile", "keys per step of the running softmax", {16, 32, 64}},
      {"thread_queries", "queries per thread", {2, 4, 8}},
      {"thread_keys", "keys per thread in the scores", {1, 2, 4, 8}},
      {"dim_unroll", "features per register fragment in the scores", {4, 8}},
      {"key_unroll", "keys per register fragment in the weighted sum", {2, 4, 8}},
      {"stage_lanes", "elements that a thread copies at a time into shared memory", {1, 4}},
  };
  return parameters;
}

const std::vector<gpu_rule> &gpu_rules() {
  static const std::vector<gpu_rule> rules{{"values are known", values_are_known},
                                           {"tiles divide", tiles_divide},
                                           {"threads fit", threads_fit},
                                           {"staging divides", staging_divides},
                                           {"registers fit", registers_fit},
                                           {"shared memory fits", shared_memory_fits}};
  return rules;
}

std::string gpu_broken_rule(const operator_description &op, const target_info &target, const schedule_point &p) {
  for (const gpu_rule &rule : gpu_rules())
    if (std::string broken = rule.broken(op, target, p); !broken.empty()) return broken;
  return {};
}

std::string gpu_why_not(const operator_description &op, const target_info &target) {
  const numbers &n = op.n;
  const std::string on = std::string(" on ") + target.name;
  if (is_projected(n)) return "projections are not available" + on + ": give query, key and value as operands";
  if (n.returns_weights) return "attention weights are not returned" + on + ": the kernel never holds a whole row of them";
  if (returns_scores(n)) return "scores are not returned" + on + ": the kernel never holds a whole row of them";
  if (const std::string objection = rotary_why_not(op); !objection.empty()) return objection;
  std::string last;
  for (const schedule_point &p : default_points())
    if (last = gpu_broken_rule(op, target, p); last.empty()) return {};
  return "head_dim " + std::to_string(n.head_dim) + " with value_dim " + std::to_string(n.value_dim) + " does not fit" + on + ": " + last;
}

schedule_point gpu_default(const operator_description &op, const target_info &target) {
  for (const schedule_point &p : default_points())
    if (gpu_broken_rule(op, target, p).empty()) return p;
  throw std::invalid_argument(gpu_why_not(op, target));
}

gpu_pipeline make_gpu_pipeline(const operator_description &op, const target_info &target, const schedule_point &p) {
  if (const std::string reason = gpu_why_not(op, target); !reason.empty()) throw std::invalid_argument(op.name + ": " + reason);
  if (const std::string rule = gpu_broken_rule(op, target, p); !rule.empty()) throw std::invalid_argument(op.name + ": " + p.text() + ": " + rule);
  gpu_attention a(op, target, tile_of(op.n, p));
  schedule(a, p, op.n.rope.dims / 2);
  gpu_pipeline result{Pipeline(a.results()), a.arguments};
  const auto add = [&](auto *pass) { result.pipeline.add_custom_lowering_pass(pass, [pass] { delete pass; }); };
  add(new private_registers);
  add(new cut_key_loop(a.state.name() + ".s1."));
  add(new drop_bounds_checks);
  add(new limit_shared_memory(largest_shared_bytes));
  return result;
}

Module build_gpu_module(const operator_description &op, const target_info &target, const schedule_point &p, const std::string &function_name) {
  gpu_pipeline made = make_gpu_pipeline(op, target, p);
  return made.pipeline.compile_to_module(made.arguments.in_order(), function_name, halide_target(target));
}

} // namespace attune

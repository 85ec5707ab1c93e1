#include "schedules/cpu_projection.hpp"
#include "schedules/cpu_vectors.hpp"

namespace attune {
using namespace Halide;

std::vector<std::pair<std::string, int>> cpu_projection_default(const panel_layout &layout, const target_info &target) {
  if (layout.tiles) return {{"panel_rows", 64}};
  return {{"panel_rows", target.vector_registers >= 32 ? 8 : 6}, {"panel_unroll", 4}};
}

std::vector<schedule_parameter> cpu_projection_parameters(const panel_layout &layout) {
  if (layout.tiles) return {{"panel_rows", "rows of a projection in one task", {16, 32, 64, 128}}};
  return {{"panel_rows", "rows in one register tile of a projection", {2, 4, 6, 8}},
          {"panel_unroll", "features (or pairs of bf16 features) that a projection takes at a time", {1, 2, 4, 8}}};
}

namespace {
/// Vectors of output features in a panel. Panels of four vectors of bf16 pairs make Halide gather the fourth.
int panel_vectors(const target_info &target) { return target.vector_registers >= 32 ? 3 : 2; }

constexpr int tiled_panel_lanes = 2 * tile_columns;
} // namespace

std::string cpu_projection_broken_rule(const panel_layout &layout, const target_info &target, const schedule_point &p) {
  if (layout.tiles) return divides("a tile's rows", tile_rows, "panel_rows", p.at("panel_rows"));
  return fits_registers("panel_rows x vectors of a panel", panel_vectors(target), p.at("panel_rows"), target);
}

panel_layout panels_of(element_type element, const std::vector<int> &features_in, const target_info &target) {
  const auto all_divided_by = [&](int n) { return std::all_of(features_in.begin(), features_in.end(), [n](int features) { return features % n == 0; }); };
  if (target.tile_bf16 && element == element_type::bf16 && all_divided_by(2 * tile_pairs)) return {tiled_panel_lanes, true, true};
  return {panel_vectors(target) * f32_lanes(target), target.dot_bf16 && element == element_type::bf16 && all_divided_by(2), false};
}

panel_layout panels_of(const operator_description &op, const target_info &target) {
  // One function packs all the matrices of a spec: all have pairs, or none has.
  return panels_of(op.n.element, {op.n.model_dim, op.n.context_dim, op.n.output_dim > 0 ? op.n.heads * op.n.value_dim : 0}, target);
}

namespace {
/// Rows and a group of panels are a task, which copies its rows once: 1,024 rows of 768 to 768 features, one Xeon core, with groups of 12 panels
/// 992 GFLOP/s, of 6 and 4 844 and 820. All rows of a group come before the next group, so that a thread makes whole heads, which it goes on with;
/// at least two groups, for two threads.
void schedule_tiled_panels(projection &p, int rows, const Var &panel, const Var &lane, const Var &ro, const Var &ri) {
  constexpr int most_panels = 12;
  Var group("group"), of_group("of_group"), task("task");
  const int panels = (p.features_out + p.layout.lanes - 1) / p.layout.lanes;
  p.result.split(panel, group, of_group, divisor_of(panels, std::clamp(panels / 2, 1, most_panels))).reorder(lane, ri, of_group, ro, group, p.b).fuse(ro, group, task).fuse(task, p.b, task).parallel(task);
  p.copied.compute_at(p.result, task).bound_extent(p.n, p.features_in).bound_extent(p.r, rows).vectorize(p.n, 2 * tile_pairs);
  p.accumulated.compute_at(p.result, of_group).bound_extent(p.n, p.layout.lanes).bound_extent(p.r, rows);
  p.accumulated.update().reorder(p.features.x, p.n, p.r, p.features.y);
}

/// A panel is a task.
void schedule_panels(projection &p, int rows, int vector, int most_unrolled, const Var &panel, const Var &lane, const Var &ro, const Var &ri) {
  Var task("task");
  p.result.reorder(lane, ri, ro, panel, p.b).fuse(panel, p.b, task).parallel(task).unroll(ri);
  p.accumulated.compute_at(p.result, ro).bound_extent(p.n, p.layout.lanes).bound_extent(p.r, rows).vectorize(p.n, vector).unroll(p.n).unroll(p.r);
  const int steps = p.features_in / p.layout.together();
  int unroll = most_unrolled;
  while (steps % unroll != 0) unroll /= 2;
  Stage update = p.accumulated.update();
  const RVar step = p.layout.pairs ? p.features.y : p.features.x;
  if (p.layout.pairs) update.reorder(p.features.x, p.n, p.r, step).atomic().vectorize(p.features.x);
  else update.reorder(p.n, p.r, step);
  update.vectorize(p.n, vector).unroll(p.n).unroll(p.r).unroll(step, unroll);
}
} // namespace

void schedule_projection(projection &p, projection_place place, const target_info &target, const schedule_point &point) {
  const int vector = f32_lanes(target), rows = point.at("panel_rows");
  Var panel("panel"), lane("lane"), ro("ro"), ri("ri");
  const bool inner = place == projection_place::inner, whole_panels = inner || p.features_out % p.layout.lanes == 0;
  if (inner) p.result.compute_root();
  p.result.split(p.n, panel, lane, p.layout.lanes, whole_panels ? TailStrategy::RoundUp : TailStrategy::GuardWithIf)
      .split(p.r, ro, ri, rows, inner ? TailStrategy::RoundUp : TailStrategy::GuardWithIf);
  if (p.layout.tiles) schedule_tiled_panels(p, rows, panel, lane, ro, ri);
  else schedule_panels(p, rows, vector, point.at("panel_unroll"), panel, lane, ro, ri);
  if (whole_panels) p.result.vectorize(lane, vector).unroll(lane);
}

tiled_funcs tiled_funcs_of(const projection &p) { return p.layout.tiles ? tiled_funcs{{p.accumulated.name()}, {}} : tiled_funcs{}; }

void schedule_packing(packing &p) { p.packed.parallel(p.panel); }

} // namespace attune

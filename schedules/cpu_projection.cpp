#include "schedules/cpu_projection.hpp"

namespace attune {
using namespace Halide;

std::vector<std::pair<std::string, int>> cpu_projection_default(const target_info &target) {
  const bool many_registers = target.vector_registers >= 32;
  return {{"panel_vectors", many_registers ? 3 : 2}, {"panel_rows", many_registers ? 8 : 6}, {"panel_unroll", 4}};
}

std::vector<schedule_parameter> cpu_projection_parameters(const target_info &) {
  return {{"panel_vectors", "vectors of output features per packed panel", {1, 2, 3, 4}},
          {"panel_rows", "rows in one register tile of a projection", {2, 4, 6, 8, 12}},
          {"panel_unroll", "features that a projection takes at a time", {1, 2, 4, 8}}};
}

std::string cpu_projection_broken_rule(const target_info &target, const schedule_point &p) {
  const int accumulators = p.at("panel_vectors") * p.at("panel_rows");
  if (accumulators < target.vector_registers) return "";
  return "panel_vectors x panel_rows needs " + std::to_string(accumulators) + " accumulators, and " + target.name + " has " +
         std::to_string(target.vector_registers) + " vector registers in all";
}

int projection_lanes(const target_info &target, const schedule_point &point) { return point.at("panel_vectors") * target.vector_bytes / 4; }

void schedule_projection(projection &p, projection_place place, const target_info &target, const schedule_point &point) {
  const int vector = target.vector_bytes / 4, rows = point.at("panel_rows");
  Var panel("panel"), lane("lane"), ro("ro"), ri("ri"), task("task");
  const bool whole_panels = place == projection_place::inner || p.features_out % p.lanes == 0;
  if (place == projection_place::inner) p.result.compute_root();
  p.result.split(p.n, panel, lane, p.lanes, whole_panels ? TailStrategy::RoundUp : TailStrategy::GuardWithIf)
      .split(p.r, ro, ri, rows, place == projection_place::inner ? TailStrategy::RoundUp : TailStrategy::GuardWithIf)
      .reorder(lane, ri, ro, panel, p.b)
      .fuse(panel, p.b, task)
      .parallel(task)
      .unroll(ri);
  if (whole_panels) p.result.vectorize(lane, vector).unroll(lane);
  p.accumulated.compute_at(p.result, ro).bound_extent(p.n, p.lanes).bound_extent(p.r, rows).vectorize(p.n, vector).unroll(p.n).unroll(p.r);
  int unroll = point.at("panel_unroll");
  while (p.features_in % unroll != 0) unroll /= 2;
  p.accumulated.update().reorder(p.n, p.r, p.features.x).vectorize(p.n, vector).unroll(p.n).unroll(p.r).unroll(p.features.x, unroll);
}

void schedule_packing(packing &p, const target_info &target) {
  p.packed.vectorize(p.lane, target.vector_bytes / 4, TailStrategy::GuardWithIf).parallel(p.panel);
}

} // namespace attune

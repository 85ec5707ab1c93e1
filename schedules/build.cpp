#include "schedules/build.hpp"
#include "dsl/pipeline/element.hpp"
#include "schedules/cpu_module.hpp"
#include "schedules/cpu_projection.hpp"
#include "schedules/family.hpp"
#include "schedules/schedule_tables.hpp"

namespace attune {
using namespace Halide;

Target halide_target(const target_info &target, bool projects) {
  const Target t = Target(target.halide_target).with_feature(Target::NoRuntime).with_feature(Target::UserContext).with_feature(Target::NoBoundsQuery);
  // Halide loses sight of dense loads in projections over pairs of bf16 when it counts in 64 bits (0.22 of the peak for 0.96).
  return target.device == device_kind::cpu && !projects ? t.with_feature(Target::LargeBuffers) : t;
}

namespace {
/// The first family that can carry calls of the bucket. Null, and `reason` says why, if none can: in the words of the last
/// family for the target's kind of device.
const schedule_family *preferred_family(const operator_description &op, const target_info &target, length_bucket bucket, std::string &reason) {
  reason.clear();
  for (const schedule_family *f : schedule_families()) {
    const std::string objection = f->why_not(op, target, bucket);
    if (objection.empty()) return f;
    const bool is_for_device = (target.device == device_kind::cpu) == (f->name().rfind("gpu", 0) != 0);
    if (is_for_device || reason.empty()) reason = objection;
  }
  return nullptr;
}
} // namespace

std::string why_not(const operator_description &op, const target_info &target) {
  std::string reason;
  for (const length_bucket bucket : buckets_of(op.n))
    if (!preferred_family(op, target, bucket, reason)) return reason;
  return "";
}

schedule_point choose_schedule(const operator_description &op, const target_info &target, length_bucket bucket) {
  if (const auto recorded = look_up(op, target, bucket)) return *recorded;
  std::string reason;
  if (const schedule_family *f = preferred_family(op, target, bucket, reason)) {
    schedule_point point = f->default_point(op, target);
    point.why = why_no_record(op, target, bucket);
    return point;
  }
  throw std::invalid_argument("no schedule for " + op.name + " on " + target.name + " (" + name_of(bucket) + "): " + reason);
}

std::string broken_rule(const operator_description &op, const target_info &target, length_bucket bucket, const schedule_point &point) {
  const schedule_family &family = find_family(point.family);
  const std::string objection = family.why_not(op, target, bucket);
  return objection.empty() ? family.broken_rule(op, target, point) : objection;
}

int panel_lanes(const operator_description &op, const target_info &target) {
  return is_projected(op.n) ? panels_of(op, target).lanes : 0;
}

Module build_module(const operator_description &op, const target_info &target, const schedule_point &point, const std::string &function_name) {
  return find_family(point.family).build(op, target, point, function_name);
}

Module build_pack_module(const operator_description &op, const target_info &target, const std::string &function_name) {
  packing p(op.n.element, panels_of(op, target));
  schedule_packing(p);
  return cpu_module({p.packed}, {p.weight}, function_name, halide_target(target, true));
}

Module build_projection_module(element_type element, int features_in, int features_out, const target_info &target, const std::string &function_name) {
  const Type stored = stored_type(element);
  ImageParam rows(stored, 3, "rows");
  const matrix_arguments matrix{ImageParam(stored, 2, "matrix"), ImageParam(Float(32), 1, "bias")};
  rows.dim(0).set_bounds(0, features_in);
  const panel_layout panels = panels_of(element, {features_in}, target);
  projection p("result", features_in, features_out, panels, element, matrix);
  p.of([&](const Expr &feature, const Expr &row, const Expr &batch) { return rows(feature, clamp(row, 0, rows.dim(1).extent() - 1), batch); });
  schedule_projection(p, projection_place::output, target, {"projection", cpu_projection_default(panels, target), "default"});
  p.result.output_buffer().dim(0).set_bounds(0, features_out);
  for (int axis : {1, 2}) p.result.output_buffer().dim(axis).set_min(0);
  return cpu_module({p.result}, {rows, matrix.panels, matrix.bias}, function_name, halide_target(target, true), {{}, tiled_funcs_of(p)});
}

} // namespace attune

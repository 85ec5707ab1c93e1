#include "schedules/build.hpp"
#include "schedules/cpu_projection.hpp"
#include "schedules/family.hpp"

namespace attune {
using namespace Halide;

Target halide_target(const target_info &target) {
  return Target(target.halide_target).with_feature(Target::NoRuntime).with_feature(Target::UserContext).with_feature(Target::NoBoundsQuery);
}

std::string why_not(const operator_description &op, const target_info &target) {
  std::string reason;
  for (const schedule_family *f : schedule_families()) {
    const std::string objection = f->why_not(op, target);
    if (objection.empty()) return "";
    const bool is_for_device = (target.device == device_kind::cpu) == (f->name().rfind("gpu", 0) != 0);
    if (is_for_device || reason.empty()) reason = objection;
  }
  return reason;
}

schedule_point choose_schedule(const operator_description &op, const target_info &target) {
  for (const schedule_family *f : schedule_families())
    if (f->why_not(op, target).empty()) return f->default_point(op, target);
  throw std::invalid_argument("no schedule for " + op.name + " on " + target.name + ": " + why_not(op, target));
}

std::string broken_rule(const operator_description &op, const target_info &target, const schedule_point &point) {
  const schedule_family &family = find_family(point.family);
  const std::string objection = family.why_not(op, target);
  return objection.empty() ? family.broken_rule(op, target, point) : objection;
}

int panel_lanes(const operator_description &op, const target_info &target, const schedule_point &point) {
  return is_projected(op.n) ? projection_lanes(target, point) : 0;
}

Module build_module(const operator_description &op, const target_info &target, const schedule_point &point, const std::string &function_name) {
  return find_family(point.family).build(op, target, point, function_name);
}

Module build_pack_module(const operator_description &op, const target_info &target, const schedule_point &point, const std::string &function_name) {
  packing p(op.n.element, projection_lanes(target, point));
  schedule_packing(p, target);
  return p.packed.compile_to_module({p.weight}, function_name, halide_target(target));
}

} // namespace attune

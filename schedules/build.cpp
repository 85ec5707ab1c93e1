#include "schedules/build.hpp"
#include "schedules/cpu_projection.hpp"
#include "schedules/family.hpp"
#include "schedules/schedule_tables.hpp"

namespace attune {
using namespace Halide;

Target halide_target(const target_info &target) {
  return Target(target.halide_target).with_feature(Target::NoRuntime).with_feature(Target::UserContext).with_feature(Target::NoBoundsQuery);
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
  if (const schedule_family *f = preferred_family(op, target, bucket, reason)) return f->default_point(op, target);
  throw std::invalid_argument("no schedule for " + op.name + " on " + target.name + " (" + name_of(bucket) + "): " + reason);
}

std::string broken_rule(const operator_description &op, const target_info &target, length_bucket bucket, const schedule_point &point) {
  const schedule_family &family = find_family(point.family);
  const std::string objection = family.why_not(op, target, bucket);
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

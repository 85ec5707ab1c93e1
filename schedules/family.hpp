// What a schedule family is: a way to lay a pipeline out on a kind of machine, with parameters as data and rules that say
// which points are legal. The generator, the tuner and the tables know families only through this.
#pragma once
#include "dsl/call_lengths.hpp"
#include "dsl/pipeline/operator_description.hpp"
#include "dsl/targets.hpp"
#include "schedules/schedule_point.hpp"

namespace attune {

/// A parameter of a family: what it means, and the values worth trying.
struct schedule_parameter {
  std::string name, meaning;
  std::vector<int> values;
};

struct schedule_family {
  virtual ~schedule_family() = default;
  virtual std::string name() const = 0;
  /// Why this family cannot carry calls of the bucket, for the spec on the target, in one sentence; empty if it can.
  virtual std::string why_not(const operator_description &, const target_info &, length_bucket) const = 0;
  virtual std::vector<schedule_parameter> parameters(const operator_description &, const target_info &) const = 0;
  /// Why a point is not legal for the spec and the target, in one sentence; empty if it is.
  virtual std::string broken_rule(const operator_description &, const target_info &, const schedule_point &) const = 0;
  virtual schedule_point default_point(const operator_description &, const target_info &) const = 0;
  /// The kernel, as build_module (schedules/build.hpp) returns it.
  virtual Halide::Module build(const operator_description &, const target_info &, const schedule_point &, const std::string &function_name) const = 0;
};

/// All families, the one to prefer first.
const std::vector<const schedule_family *> &schedule_families();
/// The family of that name; throws std::invalid_argument with the names that there are.
const schedule_family &find_family(const std::string &name);

} // namespace attune

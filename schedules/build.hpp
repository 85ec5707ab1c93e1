// From a described operator, a target and a schedule to a Halide module: the one door between spec and artefact.
#pragma once
#include "dsl/pipeline/operator_description.hpp"
#include "dsl/targets.hpp"
#include "schedules/schedule_point.hpp"

namespace attune {

/// The exact Halide target of generated functions: no runtime, a user context, no bounds queries; argument checks stay.
Halide::Target halide_target(const target_info &);

/// Why this target cannot carry this spec, in one sentence; empty if it can.
std::string why_not(const operator_description &, const target_info &);

/// The schedule that is used when nobody pins one.
schedule_point choose_schedule(const operator_description &, const target_info &);

/// Why this point breaks a rule of its family for this spec and target, in one sentence; empty if it is legal.
std::string broken_rule(const operator_description &, const target_info &, const schedule_point &);

/// The kernel as a module with one function in Halide's argv form; arguments in the order of runtime/artefact.hpp.
Halide::Module build_module(const operator_description &, const target_info &, const schedule_point &, const std::string &function_name);

/// The packing of one weight matrix, for specs with projections.
Halide::Module build_pack_module(const operator_description &, const target_info &, const schedule_point &, const std::string &function_name);

/// Output features per packed panel; 0 for specs without projections.
int panel_lanes(const operator_description &, const target_info &, const schedule_point &);

} // namespace attune

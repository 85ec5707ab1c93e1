// From a described operator, a target and a schedule to a Halide module: the one door between spec and artefact.
#pragma once
#include "dsl/call_lengths.hpp"
#include "dsl/pipeline/operator_description.hpp"
#include "dsl/targets.hpp"
#include "schedules/schedule_point.hpp"

namespace attune {

/// The exact Halide target of generated functions: no runtime, a user context, no bounds queries, on CPUs 64 bits to count elements unless the spec has projections;
/// argument checks stay.
Halide::Target halide_target(const target_info &, bool projects = false);

/// Why this target cannot carry calls of this spec, of some length, in one sentence; empty if it can.
std::string why_not(const operator_description &, const target_info &);

/// The schedule of a length bucket that is used when nobody pins one: a record of the tables in use (schedules/schedule_tables.hpp),
/// or else the default of the first family that can carry it.
schedule_point choose_schedule(const operator_description &, const target_info &, length_bucket);

/// Why this point breaks a rule of its family for this spec, target and bucket, in one sentence; empty if it is legal.
std::string broken_rule(const operator_description &, const target_info &, length_bucket, const schedule_point &);

/// The kernel as a module with one function in Halide's argv form; arguments in the order of runtime/artefact.hpp.
Halide::Module build_module(const operator_description &, const target_info &, const schedule_point &, const std::string &function_name);

/// The packing of one weight matrix, for specs with projections: the same for all schedules.
Halide::Module build_pack_module(const operator_description &, const target_info &, const std::string &function_name);

/// A projection alone, to be measured: rows [feature in, row, batch], packed matrix and bias as runtime/artefact.hpp has them, and the
/// result [feature out, row, batch]; rows and result are stored as `element`.
Halide::Module build_projection_module(element_type element, int features_in, int features_out, const target_info &, const std::string &function_name);

/// Output features per packed panel; 0 for specs without projections.
int panel_lanes(const operator_description &, const target_info &);

} // namespace attune

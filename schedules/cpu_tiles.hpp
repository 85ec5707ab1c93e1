// The CPU family `tiles`: the blocked pipeline with both products by tiles of bf16 (AMX).
#pragma once
#include "dsl/pipeline/blocked_attention.hpp"
#include "dsl/targets.hpp"
#include "schedules/family.hpp"
#include "schedules/tile_products.hpp"

namespace attune {

/// Why tiles cannot multiply for the spec on the target, in one sentence; empty if they can.
std::string cpu_tiles_why_not(const operator_description &, const target_info &);
std::vector<schedule_parameter> cpu_tiles_parameters();
schedule_point cpu_tiles_default(const operator_description &);
std::string cpu_tiles_broken_rule(const operator_description &, const schedule_point &);
blocking cpu_tiles_blocking(const schedule_point &);

/// The parts of the pipeline's layout that are their own (schedules/cpu_blocked.cpp lays out the rest).
void schedule_tiled_scores(blocked_attention &, blocked_attention::score_pass &, const operator_description &);
void schedule_tiled_values(blocked_attention &, const operator_description &);
void schedule_tiled_sum(blocked_attention &, const operator_description &, const schedule_point &);

/// None in other families.
tiled_funcs tiled_funcs_of(const blocked_attention &);

} // namespace attune

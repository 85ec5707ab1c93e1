// The CPU schedule of projections: panels of packed weights, register tiles of rows x lanes with the whole sum in registers.
#pragma once
#include "dsl/pipeline/projection.hpp"
#include "dsl/targets.hpp"
#include "schedules/family.hpp"

namespace attune {

/// panel_vectors x panel_rows accumulators: 24 of 32 registers, 12 of 16.
std::vector<std::pair<std::string, int>> cpu_projection_default(const target_info &);
std::vector<schedule_parameter> cpu_projection_parameters(const target_info &);
std::string cpu_projection_broken_rule(const target_info &, const schedule_point &);

/// Output features per panel.
int projection_lanes(const target_info &, const schedule_point &);

/// `inner`: result is an intermediate, stored whole, rows rounded up to the register tile. Otherwise it is the output.
enum class projection_place { inner, output };
void schedule_projection(projection &, projection_place, const target_info &, const schedule_point &);

void schedule_packing(packing &, const target_info &);

} // namespace attune

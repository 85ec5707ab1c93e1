// The CPU schedule of projections: panels of packed weights, register tiles of rows x lanes with the whole sum in registers.
#pragma once
#include "dsl/pipeline/projection.hpp"
#include "dsl/targets.hpp"
#include "schedules/family.hpp"
#include "schedules/tile_products.hpp"

namespace attune {

/// 8 rows of 3 vectors, 24 accumulators of 32 registers; or 6 of 2, 12 of 16.
/// Tiles: 64 rows of 32 output features.
std::vector<std::pair<std::string, int>> cpu_projection_default(const panel_layout &, const target_info &);
std::vector<schedule_parameter> cpu_projection_parameters(const panel_layout &);
std::string cpu_projection_broken_rule(const panel_layout &, const target_info &, const schedule_point &);

/// How weights are packed: the same for all schedules of a target, so that one packing serves calls of all lengths.
panel_layout panels_of(const operator_description &, const target_info &);
panel_layout panels_of(element_type, const std::vector<int> &features_in, const target_info &);

/// `inner`: result is an intermediate, stored whole, rows rounded up to the register tile. Otherwise it is the output.
enum class projection_place { inner, output };
void schedule_projection(projection &, projection_place, const target_info &, const schedule_point &);

/// None where tiles do not multiply.
tiled_funcs tiled_funcs_of(const projection &);

void schedule_packing(packing &);

} // namespace attune

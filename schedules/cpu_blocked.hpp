// The CPU families `row_tile` and `chunk`: one blocked pipeline (dsl/pipeline/blocked_attention.hpp), cut in two ways.
//   row_tile  all keys in one chunk: the scores of a query tile stay in cache; for short sequences
//   chunk     key_chunk keys at a time, merged at the end of the tile; memory does not grow with queries x keys
#pragma once
#include "dsl/pipeline/blocked_attention.hpp"
#include "dsl/targets.hpp"
#include "schedules/schedule_point.hpp"

namespace attune {

schedule_point cpu_blocked_default(const operator_description &, const target_info &);
std::string cpu_blocked_broken_rule(const operator_description &, const target_info &, const schedule_point &);

/// The structural part of a point.
blocking blocking_of(const schedule_point &);

/// Lays the pipeline out. `result` is the Func that the tiles write, with axes (d, q, h, b).
void schedule_cpu_blocked(blocked_attention &, Halide::Func result, const operator_description &, const target_info &, const schedule_point &);

} // namespace attune

// The CPU layout of the blocked pipeline (dsl/pipeline/blocked_attention.hpp): its parameters, their rules, its schedule.
#pragma once
#include "dsl/pipeline/blocked_attention.hpp"
#include "dsl/targets.hpp"
#include "schedules/family.hpp"

namespace attune {

/// `family` is chunk, row_tile, running or tiles, whose parameters are its own (schedules/cpu_tiles.hpp); row_tile has no key_chunk.
std::vector<schedule_parameter> cpu_blocked_parameters(const operator_description &, const std::string &family);
schedule_point cpu_blocked_default(const operator_description &, const target_info &, const std::string &family);
std::string cpu_blocked_broken_rule(const operator_description &, const target_info &, const schedule_point &);

/// Whether products may run over pairs of bf16: `anything` selects the products of masked values, which stand two in an instruction there.
bool has_pairs(const operator_description &);
/// Whether both products run over pairs of bf16, by vdpbf16ps.
bool multiplies_pairs(const operator_description &, const target_info &);
/// The structural part of a point.
blocking blocking_of(const operator_description &, const target_info &, const schedule_point &);

/// Bytes that a task keeps of the chunks' weighted sums against very many keys (131,072).
std::int64_t bytes_of_sums(const operator_description &, int query_tile, int key_chunk);

/// Lays the pipeline out. `result` is the Func that the tiles write, with axes (d, q, h, b); `of_rows`, with axes (q, h, b), are what
/// they write of each row beside it.
void schedule_cpu_blocked(blocked_attention &, Halide::Func result, const std::vector<Halide::Func> &of_rows, const operator_description &, const target_info &, const schedule_point &);

} // namespace attune

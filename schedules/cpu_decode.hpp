// The CPU layout of the decode pipeline (dsl/pipeline/decode_attention.hpp): its parameters, their rules, its schedule.
#pragma once
#include "dsl/pipeline/decode_attention.hpp"
#include "dsl/targets.hpp"
#include "schedules/family.hpp"
#include "schedules/prefetch_ahead.hpp"

namespace attune {

std::string cpu_decode_why_not(const operator_description &, length_bucket);
std::vector<schedule_parameter> cpu_decode_parameters(const operator_description &, const target_info &);
schedule_point cpu_decode_default(const operator_description &, const target_info &);
std::string cpu_decode_broken_rule(const operator_description &, const target_info &, const schedule_point &);

/// The structural part of a point.
decode_blocking decode_blocking_of(const operator_description &, const target_info &, const schedule_point &);

/// Lays the pipeline out. `result` is the Func that reads its outputs, with axes (d, q, h, b); `of_rows`, with axes (q, h, b), are what
/// is wanted of each row beside it.
void schedule_cpu_decode(decode_attention &, Halide::Func result, const std::vector<Halide::Func> &of_rows, const operator_description &, const target_info &, const schedule_point &);

/// What the laid-out pipeline asks for ahead: of pages, a few blocks; of streams, some rows.
std::vector<rows_ahead> cpu_decode_fetches(const decode_attention &, const call_arguments &, const operator_description &, const schedule_point &);

} // namespace attune

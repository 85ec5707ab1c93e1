// A schedule that a person writes down, in place of the one that tables or defaults give.
#pragma once
#include "dsl/call_lengths.hpp"
#include "dsl/targets.hpp"
#include "dsl/pipeline/operator_description.hpp"
#include "schedules/schedule_point.hpp"
#include <string>
#include <utility>

namespace attune {

/// From "prefill_long=chunk query_tile=64 key_chunk=512": a bucket, a family, and some of its parameters; those that are not named are the family's
/// default. Throws std::invalid_argument: no such bucket, family or parameter, no whole number. Whether the point is legal is asked where it is used.
std::pair<length_bucket, schedule_point> pinned_schedule(const std::string &text, const operator_description &, const target_info &);

} // namespace attune

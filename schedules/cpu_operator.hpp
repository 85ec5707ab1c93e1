// The CPU families: a whole operator laid out on a CPU, with its projections, outputs and returns.
//   chunk     key_chunk keys at a time, merged at the end of each query tile; memory does not grow with queries x keys
//   running   the same, each chunk merged as it comes: no more than one chunk's sums are kept
//   tiles     as chunk, both products by tiles of bf16 (AMX)
//   row_tile  all keys in one chunk: the scores of a query tile stay in cache; for short sequences
//   decode    few queries: keys and values are read in order, once for the heads that share them; keys are split over cores
#pragma once
#include "schedules/family.hpp"

namespace attune {

class cpu_family final : public schedule_family {
public:
  explicit cpu_family(std::string name) : family(std::move(name)) {}
  std::string name() const override { return family; }
  std::string why_not(const operator_description &, const target_info &, length_bucket) const override;
  std::vector<schedule_parameter> parameters(const operator_description &, const target_info &) const override;
  std::string broken_rule(const operator_description &, const target_info &, const schedule_point &) const override;
  schedule_point default_point(const operator_description &, const target_info &) const override;
  Halide::Module build(const operator_description &, const target_info &, const schedule_point &, const std::string &function_name) const override;

private:
  std::string family;
  bool decodes() const { return family == "decode"; }
};

} // namespace attune

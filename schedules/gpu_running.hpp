// The GPU family: running softmax over blocks of keys, one thread block per tile of queries and head. CUDA and OpenCL alike.
#pragma once
#include "dsl/pipeline/call_arguments.hpp"
#include "dsl/targets.hpp"
#include "schedules/family.hpp"

namespace attune {

const std::vector<schedule_parameter> &gpu_parameters();

/// A rule of the family: why a point is not legal for a spec and a target; empty if it holds.
struct gpu_rule {
  const char *name;
  std::string (*broken)(const operator_description &, const target_info &, const schedule_point &);
};
const std::vector<gpu_rule> &gpu_rules();

/// Why a GPU target cannot carry this spec, in one sentence; empty if it can.
std::string gpu_why_not(const operator_description &, const target_info &);

/// Why this point breaks a rule for this spec and target, in one sentence; empty if it is legal.
std::string gpu_broken_rule(const operator_description &, const target_info &, const schedule_point &);

/// The schedule used when nobody pins one.
schedule_point gpu_default(const operator_description &, const target_info &);

/// A scheduled pipeline with its lowering passes, and the arguments that it reads.
struct gpu_pipeline {
  Halide::Pipeline pipeline;
  call_arguments arguments;
};
gpu_pipeline make_gpu_pipeline(const operator_description &, const target_info &, const schedule_point &);

/// The kernel as a module with one function in Halide's argv form.
Halide::Module build_gpu_module(const operator_description &, const target_info &, const schedule_point &, const std::string &function_name);

} // namespace attune

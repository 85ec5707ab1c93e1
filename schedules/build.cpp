#include "schedules/build.hpp"
#include "dsl/pipeline/element.hpp"
#include "schedules/cpu_blocked.hpp"

namespace attune {
using namespace Halide;

Target halide_target(const target_info &target) {
  return Target(target.halide_target)
      .with_feature(Target::NoRuntime)
      .with_feature(Target::UserContext)
      .with_feature(Target::NoBoundsQuery);
}

std::string why_not(const operator_description &op, const target_info &target) {
  (void)op;
  (void)target;
  return "";
}

schedule_point choose_schedule(const operator_description &op, const target_info &target) { return cpu_blocked_default(op, target); }

std::string broken_rule(const operator_description &op, const target_info &target, const schedule_point &point) {
  return cpu_blocked_broken_rule(op, target, point);
}

Module build_module(const operator_description &op, const target_info &target, const schedule_point &point, const std::string &function_name) {
  call_arguments args(op);
  blocked_attention attention(op, args, operand_source(op, args), blocking_of(point));
  Func output("output_tensor");
  output(attention.d, attention.q, attention.h, attention.b) = store_as(attention.output(attention.d, attention.q, attention.h, attention.b), op.n.element);
  std::vector<Func> outputs{output};
  if (op.n.returns_lse) outputs.push_back(attention.lse);
  for (Func &f : outputs)
    for (int i = 0; i < f.dimensions(); ++i) f.output_buffer().dim(i).set_min(0);
  output.output_buffer().dim(0).set_extent(op.n.value_dim);
  schedule_cpu_blocked(attention, output, op.n.returns_lse ? attention.lse : Func(), op, target, point);
  return Pipeline(outputs).compile_to_module(args.in_order(), function_name, halide_target(target));
}

} // namespace attune

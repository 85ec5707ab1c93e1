#include "schedules/cpu_operator.hpp"
#include "schedules/family.hpp"
#include "schedules/gpu_running.hpp"

namespace attune {

namespace {
struct gpu_running_family final : schedule_family {
  std::string name() const override { return "gpu_running"; }
  std::string why_not(const operator_description &op, const target_info &target, length_bucket) const override {
    return target.device == device_kind::cpu ? "gpu_running is for CUDA and OpenCL" : gpu_why_not(op, target);
  }
  std::vector<schedule_parameter> parameters(const operator_description &, const target_info &) const override { return gpu_parameters(); }
  std::string broken_rule(const operator_description &op, const target_info &target, const schedule_point &p) const override {
    return gpu_broken_rule(op, target, p);
  }
  schedule_point default_point(const operator_description &op, const target_info &target) const override { return gpu_default(op, target); }
  Halide::Module build(const operator_description &op, const target_info &target, const schedule_point &p, const std::string &function) const override {
    return build_gpu_module(op, target, p, function);
  }
};
} // namespace

const std::vector<const schedule_family *> &schedule_families() {
  static const cpu_family decode("decode"), tiles("tiles"), chunk("chunk"), row_tile("row_tile"), running("running");
  static const gpu_running_family gpu_running;
  static const std::vector<const schedule_family *> all{&decode, &tiles, &chunk, &row_tile, &running, &gpu_running};
  return all;
}

const schedule_family &find_family(const std::string &name) {
  std::string known;
  for (const schedule_family *f : schedule_families()) {
    if (f->name() == name) return *f;
    known += (known.empty() ? "" : ", ") + f->name();
  }
  throw std::invalid_argument("no schedule family is named " + name + "; there are " + known);
}

} // namespace attune

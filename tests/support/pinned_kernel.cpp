#include "tests/support/pinned_kernel.hpp"
#include "generated/timing/probes.hpp"
#include "generated/emitter.hpp"
#include "generated/tuning/process_measurer.hpp"
#include <cstring>
#include <deque>
#include <limits>
#include <stdexcept>

namespace attune {
namespace {

constexpr std::chrono::minutes compile_patience{5};

void must_end_well(child_process &process, const std::string &what) {
  if (const process_end ended = process.wait(); ended.how != process_end::done) throw std::runtime_error(what + " could not be compiled: " + ended.what);
}

/// Libraries, and the Halide runtime that all of them hold.
struct workshop {
  temporary_folder folder;
  int count = 0;
  workshop() {
    child_process runtime([&] { return emit_runtime({&info_of(target_under_test())}, folder / "halide_runtime.o"), 0; }, folder / "runtime.txt",
                          usable_cores(), compile_patience);
    must_end_well(runtime, "the Halide runtime");
  }
};

} // namespace

int lanes_under_test() { return info_of(target_under_test()).vector_bytes / 4; }

schedule_point point_of(const std::string &family, const operator_description &op, const parameters &replaced) {
  const target_info &target = info_of(target_under_test());
  schedule_point p = find_family(family).default_point(op, target);
  for (const auto &[name, value] : replaced) {
    p.at(name); // throws where there is none
    for (auto &[key, old] : p.parameters)
      if (key == name) old = value;
  }
  const std::string broken = find_family(family).broken_rule(op, target, p);
  if (!broken.empty()) throw std::logic_error(p.text() + ": " + broken);
  return p;
}

std::vector<pinned_kernel> compile_kernels(const operator_description &op, const std::vector<schedule_point> &points) {
  static workshop shop;
  struct job {
    schedule_point point;
    std::filesystem::path library;
    std::unique_ptr<child_process> process;
  };
  const target_info &target = info_of(target_under_test());
  std::deque<job> compiling;
  std::vector<pinned_kernel> kernels;
  const auto finish_one = [&] {
    const job j = std::move(compiling.front());
    compiling.pop_front();
    must_end_well(*j.process, op.name + " at " + j.point.text());
    kernels.push_back(std::make_unique<const trial_kernel>(op, target, j.point, j.library));
  };
  for (const schedule_point &p : points) {
    if (compiling.size() == usable_cores().size()) finish_one();
    job j{p, shop.folder / (std::to_string(shop.count++) + ".so"), nullptr};
    const auto compile = [&op, &target, p, library = j.library] { return compile_trial(op, target, p, shop.folder / "halide_runtime.o", library); };
    j.process = std::make_unique<child_process>(compile, std::filesystem::path(j.library).replace_extension(".txt"), usable_cores(), compile_patience);
    compiling.push_back(std::move(j));
  }
  while (!compiling.empty()) finish_one();
  return kernels;
}

void set_lengths(check_call &call, const std::vector<int> &lengths) {
  call.tensor("key_lengths").fill([&](auto n) { return lengths[n]; });
  for (const char *name : {"key", "value"}) {
    check_tensor &t = call.tensor(name);
    t.fill([&](auto n) { return normal_value(static_cast<std::uint64_t>(name[0]), n); });
    t.for_each([&](const auto &at) {
      if (at[2] >= lengths[static_cast<std::size_t>(at[0])]) t.set(at, std::numeric_limits<double>::quiet_NaN());
    });
  }
}

void set_bits(check_tensor &t, const std::vector<std::int64_t> &at, std::uint32_t bits) {
  const auto size = static_cast<std::int64_t>(size_of(t.shape().element));
  std::int64_t offset = 0;
  for (std::size_t a = 0; a < at.size(); ++a) offset += at[a] * t.strides()[a];
  std::memcpy(static_cast<char *>(t.data()) + offset * size, &bits, static_cast<std::size_t>(size)); // low half first: both machines are little-endian
}

} // namespace attune

#include "generated/emitter.hpp"
#include "generated/digest.hpp"
#include "generated/files.hpp"
#include "generated/linked_module.hpp"
#include "generated/names.hpp"
#include "schedules/build.hpp"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>

namespace attune {
namespace fs = std::filesystem;
using Halide::OutputFileType;

namespace {
/// While it lives, a warning of Halide is as much an error as an error is.
class strict_reporter final : public Halide::CompileTimeErrorReporter {
public:
  strict_reporter() { Halide::set_custom_compile_time_error_reporter(this); }
  ~strict_reporter() override { Halide::set_custom_compile_time_error_reporter(nullptr); }
  strict_reporter(const strict_reporter &) = delete;

  void warning(const char *text) override { throw emission_error(fmt::format("Halide warned, and a warning fails the emission: {}", text)); }
  [[noreturn]] void error(const char *text) override { throw emission_error(text); }
};

std::string fingerprint_of(const manifest &m) {
  std::uint64_t state = fnv_start;
  const auto add = [&state](const std::string &part) { state = fnv1a(part, fnv1a("\n", state)); };
  for (const std::string &part : {m.spec, m.canonical_text, m.halide_target, m.pack, m.refused, m.attune_version, m.halide_version, m.llvm_version, m.generator})
    add(part);
  for (const emitted_kernel &kernel : m.kernels) {
    add(kernel.run);
    add(kernel.schedule.text());
    add(kernel.schedule.origin);
    for (const length_bucket b : kernel.buckets) add(name_of(b));
  }
  return hexadecimal(state);
}

schedule_point schedule_of(const emission_order &order, length_bucket bucket) {
  const auto pinned = order.pinned.find(bucket);
  const schedule_point point = pinned != order.pinned.end() ? pinned->second : choose_schedule(order.spec, order.target, bucket);
  if (const std::string rule = broken_rule(order.spec, order.target, bucket, point); !rule.empty())
    throw emission_error(fmt::format("schedule \"{}\" ({}): {}", point.text(), name_of(bucket), rule));
  return point;
}

/// One kernel for each schedule. The one for long prefills bears the plain name, others add their first bucket's.
std::vector<emitted_kernel> plan_kernels(const emission_order &order, const std::string &function) {
  const length_buckets buckets = buckets_of(order.spec.n);
  for (const auto &[bucket, point] : order.pinned)
    if (std::find(buckets.begin(), buckets.end(), bucket) == buckets.end())
      throw emission_error(fmt::format("schedule \"{}\" is pinned for {}, but no call of this spec decodes", point.text(), name_of(bucket)));
  std::vector<emitted_kernel> kernels;
  for (const length_bucket bucket : buckets) {
    const schedule_point point = schedule_of(order, bucket);
    const auto same = std::find_if(kernels.begin(), kernels.end(), [&](const emitted_kernel &k) { return k.schedule.text() == point.text(); });
    if (same != kernels.end()) {
      same->buckets.push_back(bucket);
      if (order.pinned.count(bucket)) same->schedule = point;
    } else kernels.push_back({{bucket}, "", point});
  }
  for (emitted_kernel &k : kernels)
    k.run = function + (k.buckets.back() == length_bucket::prefill_long ? "" : fmt::format("_{}", name_of(k.buckets.front()))) + "_argv";
  return kernels;
}

/// Everything that is known before code is generated.
manifest plan(const emission_order &order) {
  const operator_description &spec = order.spec;
  manifest m;
  m.spec = spec.name;
  m.canonical_text = canonical_text(spec);
  m.hash = spec_hash(spec);
  m.target = order.target.name;
  m.halide_target = halide_target(order.target, is_projected(spec.n)).to_string();
  m.attune_version = ATTUNE_VERSION;
  m.halide_version = halide_version();
  m.llvm_version = llvm_version();
  m.generator = generator_digest();
  m.refused = why_not(spec, order.target);
  if (m.refused.empty()) {
    const std::string function = function_name(order.library, spec.name, order.target.name);
    m.kernels = plan_kernels(order, function);
    m.panel_lanes = panel_lanes(spec, order.target);
    if (is_projected(spec.n)) m.pack = function + "_pack_argv";
    m.object = fmt::format("{}.{}.o", stem_of(spec.name), order.target.name);
  }
  m.fingerprint = fingerprint_of(m);
  return m;
}

/// Halide adds "_argv" itself.
std::string halide_name(const std::string &symbol) { return symbol.substr(0, symbol.size() - std::strlen("_argv")); }

Halide::Module module_of(const emission_order &order, const manifest &m) {
  std::vector<Halide::Module> parts;
  for (const emitted_kernel &k : m.kernels) parts.push_back(build_module(order.spec, order.target, k.schedule, halide_name(k.run)));
  if (!m.pack.empty()) parts.push_back(build_pack_module(order.spec, order.target, halide_name(m.pack)));
  return linked_module(function_name(order.library, order.spec.name, order.target.name), parts);
}

/// Lowers, compiles and puts the files in place, all or none of them.
void compile(const emission_order &order, manifest &m) {
  const fs::path object = order.directory / m.object;
  std::map<OutputFileType, unfinished_file> files;
  files.emplace(OutputFileType::object, object);
  if (order.assembly) files.emplace(OutputFileType::assembly, fs::path(object).replace_extension(".s"));
  if (order.loop_nest) files.emplace(OutputFileType::stmt, fs::path(object).replace_extension(".stmt"));
  std::map<OutputFileType, std::string> paths;
  for (const auto &[type, file] : files) paths[type] = file.path();

  const auto start = std::chrono::steady_clock::now();
  module_of(order, m).compile(paths);
  m.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  m.bytes = fs::file_size(paths.at(OutputFileType::object));
  for (auto &[type, file] : files) file.keep();
}

bool stands(const emission_order &order, const manifest &earlier) {
  const fs::path object = order.directory / earlier.object;
  std::error_code none;
  return earlier.refused.size() || (fs::file_size(object, none) == earlier.bytes &&
                                    (!order.assembly || fs::exists(fs::path(object).replace_extension(".s"))) &&
                                    (!order.loop_nest || fs::exists(fs::path(object).replace_extension(".stmt"))));
}
} // namespace

std::string halide_version() { return fmt::format("{}.{}.{}", HALIDE_VERSION_MAJOR, HALIDE_VERSION_MINOR, HALIDE_VERSION_PATCH); }

std::string llvm_version() {
  const int version = Halide::Internal::get_llvm_version();
  return fmt::format("{}.{}", version / 10, version % 10);
}

std::map<length_bucket, schedule_point> pinned_everywhere(const numbers &n, const schedule_point &point) {
  std::map<length_bucket, schedule_point> pinned;
  for (const length_bucket b : buckets_of(n)) pinned[b] = point;
  return pinned;
}

fs::path manifest_path(const fs::path &directory, const std::string &spec, const std::string &target) {
  return directory / fmt::format("{}.{}.json", stem_of(spec), target);
}

emission emit(const emission_order &order) try {
  const strict_reporter strict;
  manifest m = plan(order);
  const fs::path file = manifest_path(order.directory, m.spec, m.target);
  if (auto earlier = read_manifest(file); earlier && earlier->fingerprint == m.fingerprint && stands(order, *earlier)) {
    earlier->kernels = m.kernels; // the same but for their explanations, which other specs' records may change
    write(*earlier, file);
    return {m.refused.empty() ? emission::unchanged : emission::refused, *earlier};
  }
  if (m.refused.empty()) compile(order, m);
  else fs::remove(order.directory / fmt::format("{}.{}.o", stem_of(m.spec), m.target));
  write(m, file);
  return {m.refused.empty() ? emission::emitted : emission::refused, m};
} catch (const std::exception &e) {
  throw emission_error(fmt::format("{} for {}: {}", order.spec.name, order.target.name, e.what()));
}

void emit_trial(const operator_description &spec, const target_info &target, const schedule_point &point, const fs::path &object) {
  const strict_reporter strict;
  std::vector<Halide::Module> parts{build_module(spec, target, point, halide_name(trial_function))};
  if (is_projected(spec.n)) parts.push_back(build_pack_module(spec, target, halide_name(trial_pack_function)));
  unfinished_file unfinished(object);
  linked_module("attune_trial", parts).compile({{OutputFileType::object, unfinished.path().string()}});
  unfinished.keep();
}

void emit_runtime(const std::vector<const target_info *> &targets, const fs::path &object) {
  Halide::Target runtime;
  for (const target_info *t : targets) {
    const Halide::Target wanted = halide_target(*t);
    if (!runtime.has_unknowns() && runtime.arch != wanted.arch)
      throw emission_error(fmt::format("one runtime cannot serve both {} and {}: their hosts differ", targets.front()->name, t->name));
    // The runtime itself is compiled for the plain architecture, so that it runs where any of the targets does.
    runtime.os = wanted.os, runtime.arch = wanted.arch, runtime.bits = wanted.bits;
    for (const auto feature : {Halide::Target::UserContext, Halide::Target::CUDA, Halide::Target::OpenCL, Halide::Target::CUDACapability80})
      if (wanted.has_feature(feature)) runtime.set_feature(feature);
  }
  const strict_reporter strict;
  unfinished_file unfinished(object);
  Halide::compile_standalone_runtime({{OutputFileType::object, unfinished.path()}}, runtime);
  unfinished.keep_if_different();
}

} // namespace attune

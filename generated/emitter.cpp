#include "generated/emitter.hpp"
#include "generated/digest.hpp"
#include "generated/files.hpp"
#include "generated/names.hpp"
#include "schedules/build.hpp"
#include <chrono>
#include <fmt/format.h>
#include <map>

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

std::string halide_version() { return fmt::format("{}.{}.{}", HALIDE_VERSION_MAJOR, HALIDE_VERSION_MINOR, HALIDE_VERSION_PATCH); }

std::string llvm_version() {
  const int version = Halide::Internal::get_llvm_version();
  return fmt::format("{}.{}", version / 10, version % 10);
}

std::string fingerprint_of(const manifest &m) {
  std::uint64_t state = fnv_start;
  for (const std::string &part : {m.spec, m.canonical_text, m.halide_target, m.schedule.text(), m.run, m.pack, m.refused, m.attune_version,
                                  m.halide_version, m.llvm_version, m.generator})
    state = fnv1a(part, fnv1a("\n", state));
  return hexadecimal(state);
}

/// Everything that is known before code is generated.
manifest plan(const emission_order &order) {
  const operator_description &spec = order.spec;
  manifest m;
  m.spec = spec.name;
  m.canonical_text = canonical_text(spec);
  m.hash = spec_hash(spec);
  m.target = order.target.name;
  m.halide_target = halide_target(order.target).to_string();
  m.attune_version = ATTUNE_VERSION;
  m.halide_version = halide_version();
  m.llvm_version = llvm_version();
  m.generator = generator_digest();
  m.refused = why_not(spec, order.target);
  if (m.refused.empty()) {
    m.schedule = order.pinned ? *order.pinned : choose_schedule(spec, order.target);
    if (const std::string rule = broken_rule(spec, order.target, m.schedule); !rule.empty())
      throw emission_error(fmt::format("schedule \"{}\": {}", m.schedule.text(), rule));
    m.panel_lanes = panel_lanes(spec, order.target, m.schedule);
    const std::string function = function_name(order.library, spec.name, order.target.name);
    m.run = function + "_argv";
    if (is_projected(spec.n)) m.pack = function + "_pack_argv";
    m.object = fmt::format("{}.{}.o", stem_of(spec.name), order.target.name);
  }
  m.fingerprint = fingerprint_of(m);
  return m;
}

Halide::Module module_of(const emission_order &order, const manifest &m) {
  const std::string function = function_name(order.library, order.spec.name, order.target.name);
  Halide::Module run = build_module(order.spec, order.target, m.schedule, function);
  if (m.pack.empty()) return run;
  Halide::Module both = Halide::link_modules(function, {run, build_pack_module(order.spec, order.target, m.schedule, function + "_pack")});
  both.set_any_strict_float(run.any_strict_float()); // link_modules forgets it, and LLVM would then reassociate 2^x away
  return both;
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

fs::path manifest_path(const fs::path &directory, const std::string &spec, const std::string &target) {
  return directory / fmt::format("{}.{}.json", stem_of(spec), target);
}

emission emit(const emission_order &order) try {
  const strict_reporter strict;
  manifest m = plan(order);
  const fs::path file = manifest_path(order.directory, m.spec, m.target);
  if (const auto earlier = read_manifest(file); earlier && earlier->fingerprint == m.fingerprint && stands(order, *earlier))
    return {m.refused.empty() ? emission::unchanged : emission::refused, *earlier};
  if (m.refused.empty()) compile(order, m);
  else fs::remove(order.directory / fmt::format("{}.{}.o", stem_of(m.spec), m.target));
  write(m, file);
  return {m.refused.empty() ? emission::emitted : emission::refused, m};
} catch (const std::exception &e) {
  throw emission_error(fmt::format("{} for {}: {}", order.spec.name, order.target.name, e.what()));
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

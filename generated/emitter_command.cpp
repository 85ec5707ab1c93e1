#include "generated/emitter_command.hpp"
#include "generated/command_line.hpp"
#include "generated/emitter.hpp"
#include "generated/files.hpp"
#include "generated/header_writer.hpp"
#include "generated/names.hpp"
#include "generated/table_options.hpp"
#include <fmt/format.h>

namespace attune {
namespace fs = std::filesystem;

namespace {
struct request {
  std::string library, spec;
  std::vector<std::string> targets;
  std::vector<fs::path> manifests;
  fs::path out;
  table_options tables;
};

const target_info &target_named(const std::string &name) {
  if (const target_info *t = find_target(name)) return *t;
  std::string known;
  for (const target_info &t : all_targets) known += fmt::format("{}{}", known.empty() ? "" : ", ", t.name);
  throw emission_error(fmt::format("there is no target \"{}\"; targets are {}", name, known));
}

operator_description described(const std::vector<known_spec> &specs, const std::string &name) {
  for (const known_spec &s : specs)
    if (s.name == name) return s.describe();
  throw emission_error(fmt::format("library has no spec \"{}\"", name));
}

void emit_one(const std::vector<known_spec> &specs, const request &r) {
  r.tables.require_tables();
  r.tables.use();
  const operator_description spec = described(specs, r.spec);
  const emission done = emit({spec, target_named(r.targets.front()), r.library, r.out, {}});
  if (done.outcome == emission::refused)
    fmt::print("attune: {} is not emitted for {}: {}\n", r.spec, done.record.target, done.record.refused);
}

/// A path as a word of a response file: in quotes, for it may hold spaces.
std::string quoted(const fs::path &path) {
  std::string word = "\"";
  for (const char c : path.string()) {
    if (c == '"' || c == '\\') word += '\\';
    word += c;
  }
  return word + "\"";
}

/// The manifests by spec, each spec's in the order of the table of targets.
std::vector<registered_spec> registered(const std::vector<known_spec> &specs, const request &r) {
  std::vector<manifest> manifests;
  for (const fs::path &file : r.manifests) {
    const auto m = read_manifest(file);
    if (!m) throw emission_error(fmt::format("{} is missing or not of this version; emit it first", file.string()));
    manifests.push_back(*m);
  }
  std::vector<registered_spec> all;
  for (const known_spec &s : specs) {
    registered_spec one{s.describe(), {}};
    bool carried = false;
    for (const target_info &t : all_targets)
      for (const manifest &m : manifests) {
        if (m.spec != one.spec.name || m.target != t.name) continue;
        carried = carried || m.refused.empty();
        one.manifests.push_back(m);
      }
    if (!carried) throw emission_error(fmt::format("none of the targets of library {} can carry spec {}: {}", r.library, s.name, one.manifests.empty() ? "it was emitted for none" : one.manifests.front().refused));
    all.push_back(std::move(one));
  }
  return all;
}

void register_library(const std::vector<known_spec> &specs, const request &r) {
  const auto all = registered(specs, r);
  for (const registered_spec &one : all)
    write_if_different(r.out / "include" / r.library / (stem_of(one.spec.name) + ".hpp"), typed_header(one.spec, r.library));
  write_if_different(r.out / "registration.cpp", registration(all, r.library));
  for (const architecture host : {architecture::x86_64, architecture::aarch64}) {
    const std::string machine = host == architecture::x86_64 ? "x86_64" : "aarch64";
    std::string objects, visible = install_hooks_name(r.library) + "\n";
    for (const registered_spec &one : all)
      for (const manifest &m : one.manifests) {
        if (!m.refused.empty() || find_target(m.target)->host != host) continue;
        objects += quoted(r.out / "objects" / m.object) + "\n";
        for (const emitted_kernel &k : m.kernels) visible += k.run + "\n";
        if (!m.pack.empty()) visible += m.pack + "\n";
      }
    write_if_different(r.out / (machine + ".objects"), objects);
    write_if_different(r.out / (machine + ".visible"), visible);
  }
}
} // namespace

int emitter_command(const std::vector<known_spec> &specs, int argc, char **argv) {
  CLI::App app("Emits the kernels of one library. The build runs it; people use the tool \"attune\".");
  app.require_subcommand(1);
  request r;
  const auto step = [&](const char *name, const char *what, auto action) {
    CLI::App *sub = app.add_subcommand(name, what);
    sub->add_option("--out", r.out, "folder or file to write")->required();
    sub->callback(action);
    return sub;
  };
  CLI::App *emit_step = step("emit", "one object and its manifest", [&] { emit_one(specs, r); });
  emit_step->add_option("spec", r.spec, "spec, as named in SPECS")->required();
  emit_step->add_option("--target", r.targets)->required()->expected(1);
  emit_step->add_option("--library", r.library)->required();
  r.tables.add_to(*emit_step);
  CLI::App *register_step = step("register", "typed headers, registration file, lists of objects and symbols", [&] { register_library(specs, r); });
  register_step->add_option("manifests", r.manifests, "of all that was emitted")->required();
  register_step->add_option("--library", r.library)->required();
  step("runtime", "the Halide runtime of the targets", [&] {
    std::vector<const target_info *> targets;
    for (const std::string &name : r.targets) targets.push_back(&target_named(name));
    emit_runtime(targets, r.out);
  })->add_option("--targets", r.targets)->required();
  return run_command_line(app, argc, argv, "attune");
}

} // namespace attune

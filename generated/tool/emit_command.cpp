// attune emit: object, header and manifest of one spec, to look at or to take away.
#include "generated/emitter.hpp"
#include "generated/files.hpp"
#include "generated/header_writer.hpp"
#include "generated/names.hpp"
#include "generated/table_options.hpp"
#include "generated/tool/catalogue.hpp"
#include "generated/tool/commands.hpp"
#include "generated/tool/table.hpp"
#include "schedules/build.hpp"
#include "schedules/pinned_schedule.hpp"
#include <fmt/format.h>
#include <map>
#include <memory>
#include <stdexcept>

namespace attune {
namespace {

struct request {
  std::string spec, library = "emitted";
  std::vector<std::string> targets, schedules;
  std::filesystem::path out;
  bool assembly = false, loop_nest = false;
  table_options tables;
};

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const target_info &t : all_targets) names.push_back(t.name);
  return names;
}

const char *outcome_text(emission::outcome_type outcome) {
  constexpr const char *texts[] = {"emitted", "unchanged", "refused"};
  return texts[outcome];
}

/// Where no target can carry the spec, there is nothing to emit, and nothing is written.
void require_a_target(const operator_description &spec, const std::vector<std::string> &targets) {
  std::string reasons;
  for (const std::string &target : targets) {
    const std::string reason = why_not(spec, *find_target(target));
    if (reason.empty()) return;
    reasons += fmt::format("\n  {}: {}", target, reason);
  }
  throw std::runtime_error(fmt::format("nothing of {} was emitted: each target refuses it{}", spec.name, reasons));
}

std::string origin_text(const schedule_point &p) { return p.why.empty() ? p.origin : fmt::format("{}: {}", p.origin, p.why); }

using pinned_points = std::map<length_bucket, schedule_point>;

/// One row for each kernel; where there are several, or a schedule was written down for some of its buckets alone, with the buckets that it
/// is for.
void add_rows(table &rows, const emission &done, const pinned_points &pinned) {
  const manifest &m = done.record;
  std::vector<std::string> columns{m.target, outcome_text(done.outcome), std::to_string(m.bytes), fmt::format("{:.2f}", m.compile_seconds)};
  for (const emitted_kernel &k : m.kernels) {
    std::vector<std::string> buckets, given;
    for (const length_bucket b : k.buckets) {
      buckets.push_back(name_of(b));
      if (pinned.count(b)) given.push_back(name_of(b));
    }
    const bool merged = !given.empty() && given.size() < buckets.size();
    if (m.kernels.size() == 1 && !merged) buckets.clear();
    rows.push_back(columns);
    const std::string origin = merged ? fmt::format("pinned for {}; the other buckets' own schedule is the same, so all share one kernel", joined(given, ", "))
                                      : origin_text(k.schedule);
    rows.back().push_back(fmt::format("{}{}{} ({})", joined(buckets, ", "), buckets.empty() ? "" : ": ", k.schedule.text(), origin));
    columns.assign(columns.size(), "");
  }
}

/// The schedules that were written down, by bucket.
pinned_points pinned(const request &r, const operator_description &spec) {
  if (r.schedules.empty()) return {};
  if (r.targets.size() != 1) throw std::runtime_error("--schedule is for one target: name it with --target");
  pinned_points points;
  for (const std::string &text : r.schedules) {
    const auto [bucket, point] = pinned_schedule(text, spec, *find_target(r.targets.front()));
    if (!points.emplace(bucket, point).second) throw std::runtime_error(fmt::format("--schedule was given twice for {}", name_of(bucket)));
  }
  return points;
}

void run(const request &r) {
  const operator_description spec = find_spec(r.spec).describe();
  r.tables.require_tables();
  r.tables.use();
  require_a_target(spec, r.targets);
  const pinned_points points = pinned(r, spec);
  table rows{{"target", "outcome", "bytes", "seconds", "schedule"}};
  for (const std::string &target : r.targets) {
    const emission done = emit({spec, *find_target(target), r.library, r.out, points, r.assembly, r.loop_nest});
    const manifest &m = done.record;
    if (done.outcome == emission::refused) rows.push_back({m.target, "refused", "–", "–", m.refused});
    else add_rows(rows, done, points);
  }
  write_if_different(r.out / (stem_of(spec.name) + ".hpp"), typed_header(spec, r.library));
  fmt::print("{}", as_columns(rows));
}
} // namespace

void add_emit_command(CLI::App &app) {
  const auto r = std::make_shared<request>();
  r->targets = target_names();
  CLI::App *command = app.add_subcommand("emit", "object, header and manifest of one spec for some targets");
  command->add_option("SPEC", r->spec, "one of the specs, as the subcommand specs lists them")->required();
  command->add_option("--target,-t", r->targets, "targets; all of them if not given")->check(CLI::IsMember(target_names()));
  command->add_option("--out,-o", r->out, "folder to write to; made if needed")->required();
  command->add_option("--library", r->library, "part of the names of the generated functions")->capture_default_str();
  command->add_option("--schedule", r->schedules, "BUCKET=FAMILY NAME=NUMBER...: the schedule of a bucket of lengths, instead of that of tables or defaults");
  command->add_flag("--asm", r->assembly, "the assembly as well: SPEC.TARGET.s");
  command->add_flag("--stmt", r->loop_nest, "the lowered loop nest as well: SPEC.TARGET.stmt");
  r->tables.add_to(*command);
  command->callback([r] { run(*r); });
}

} // namespace attune

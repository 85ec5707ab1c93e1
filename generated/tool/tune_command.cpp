// attune tune: searches the fastest schedules of a spec on this machine, and records them.
#include "generated/command_line.hpp"
#include "generated/timing/interrupt.hpp"
#include "generated/table_options.hpp"
#include "generated/tool/commands.hpp"
#include "generated/tool/table.hpp"
#include "generated/tool/tuning_job.hpp"
#include "runtime/cpu_name.hpp"
#include "runtime/dispatch.hpp"
#include "schedules/build.hpp"
#include "schedules/schedule_tables.hpp"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <stdexcept>

namespace attune {
namespace fs = std::filesystem;

namespace {

struct request {
  std::string spec, target = "host", time = "3m";
  std::vector<std::string> buckets;
  int queries = 0, keys = 0, batch = 1, threads = 1;
  bool afresh = false, once = false;
  fs::path log;
  table_options tables;
};

/// "90", "90s", "3m", "1h" as seconds.
double seconds_of(const std::string &text) {
  std::size_t end = 0;
  double number = 0;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception &) {
    end = text.size() + 1;
  }
  const std::string unit = end <= text.size() ? text.substr(end) : "?";
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (!(factor * number > 0) || !std::isfinite(number))
    throw std::runtime_error(fmt::format("--time is \"{}\", expected seconds, minutes or hours, as 90s, 3m or 1h", text));
  return number * factor;
}

target_report report_on(target_id id) {
  const std::vector<target_report> reports = machine_targets();
  return *std::find_if(reports.begin(), reports.end(), [&](const target_report &r) { return r.target == id; });
}

const target_info &target_of_calls(const artefact_info &info) {
  const chosen_variant chosen = choose_variant(info, {});
  if (!chosen.variant) throw std::runtime_error(std::string(chosen.why.message()));
  return info_of(chosen.variant->target);
}

/// The target by its name; "host" is the one that calls of this build's kernels take.
const target_info &target_to_tune(const std::string &name, const artefact_info &info, const operator_description &spec) {
  const target_info &target = name == "host" ? target_of_calls(info) : *find_target(name);
  if (const std::string reason = why_not(spec, target); !reason.empty()) throw std::runtime_error(fmt::format("{} cannot carry {}: {}", target.name, spec.name, reason));
  if (target.device != device_kind::cpu) throw std::runtime_error(fmt::format("the tuner times CPU targets; {} is for a device", target.name));
  if (const target_report r = report_on(target.id); !r.runs_here) throw std::runtime_error(fmt::format("{} cannot be timed here: {}", target.name, r.why_not));
  return target;
}

/// The calls that each bucket is tuned for.
std::vector<tuned_calls> calls_of(const request &r, const numbers &n) {
  if (r.queries > 0 || r.keys > 0) {
    if (r.queries <= 0 || r.keys <= 0) throw std::runtime_error("--queries and --keys go together");
    if (n.same_extents && r.queries != r.keys) throw std::runtime_error(fmt::format("this spec has as many queries as keys, but --queries is {} and --keys {}", r.queries, r.keys));
    const length_bucket bucket = bucket_of(n, r.queries, r.keys);
    if (!r.buckets.empty() && r.buckets != std::vector<std::string>{name_of(bucket)})
      throw std::runtime_error(fmt::format("{} queries and {} keys are {}, but --bucket says {}", r.queries, r.keys, name_of(bucket), joined(r.buckets, ", ")));
    return {{bucket, r.batch, r.queries, r.keys}};
  }
  std::vector<tuned_calls> calls;
  for (const length_bucket b : buckets_of(n))
    if (r.buckets.empty() || std::find(r.buckets.begin(), r.buckets.end(), name_of(b)) != r.buckets.end()) {
      calls.push_back(usual_calls(b));
      calls.back().batch = r.batch;
    }
  for (const std::string &asked : r.buckets)
    if (std::none_of(calls.begin(), calls.end(), [&](const tuned_calls &c) { return name_of(c.bucket) == asked; }))
      throw std::runtime_error(fmt::format("this spec has no decode buckets, but --bucket says {}: its queries and keys are of the same tokens, or it is a layer", asked));
  return calls;
}

void run(const request &r) {
  table_options where = r.tables;
  if (where.tables.empty()) where.tables = "attune_tables";
  where.use_to_record();
  const tool_spec &spec = find_spec(r.spec);
  const operator_description description = spec.describe();
  const target_info &target = target_to_tune(r.target, spec.info(), description);
  const fs::path log = r.log.empty() ? where.tables / fmt::format("{}.{}.jsonl", spec.name, target.name) : r.log;
  catch_interrupts();
  const tuning_end end = tune_spec({spec, target, calls_of(r, description.n), r.threads, seconds_of(r.time), where.tables, log, tables_in_use().cpu, r.afresh, r.once});
  if (end == tuning_end::nothing_to_do) fmt::print("{} for {}: tuned already, as {} says\n", spec.name, target.name, log.string());
  if (end == tuning_end::interrupted) throw CLI::RuntimeError(exit_status::interrupted);
}
} // namespace

void add_tune_command(CLI::App &app) {
  const auto r = std::make_shared<request>();
  CLI::App *command = app.add_subcommand("tune", "searches the fastest schedules of one spec on this machine, and records them");
  std::vector<std::string> targets{"host"}, buckets;
  for (const target_info &t : all_targets) targets.push_back(t.name);
  for (int b = 0; b < length_bucket_count; ++b) buckets.push_back(name_of(static_cast<length_bucket>(b)));
  command->add_option("SPEC", r->spec, "one of the specs, as the subcommand specs lists them")->required();
  command->add_option("--target,-t", r->target, "a CPU target that runs here; host: the one that calls take")->check(CLI::IsMember(targets))->capture_default_str();
  command->add_option("--bucket", r->buckets, "buckets of lengths; all of the spec's if not given")->check(CLI::IsMember(buckets));
  command->add_option("--queries", r->queries, "of the calls that are timed; with --keys")->check(CLI::Range(1, 1 << 30));
  command->add_option("--keys", r->keys, "of the calls that are timed; with --queries")->check(CLI::Range(1, 1 << 30));
  command->add_option("--batch", r->batch, "of the calls that are timed")->check(CLI::Range(1, 1 << 30))->capture_default_str();
  command->add_option("--threads", r->threads, "of the calls that are timed")->check(CLI::Range(1, 1 << 30))->capture_default_str();
  command->add_option("--time", r->time, "for all of it: 90s, 3m, 1h")->capture_default_str();
  command->add_option("--log", r->log, "what was tried, as lines of JSON, to go on from; beside the tables if not given");
  command->add_flag("--afresh", r->afresh, "start from the default schedule alone: neither from records nor from the log");
  command->add_flag("--once", r->once, "do nothing where the log says that this was tuned to the end");
  r->tables.add_to(*command);
  command->get_option("--tables")->description("folder of tables to record in, and to look at first; ./attune_tables if not given");
  command->get_option("--cpu")->description("name of this machine's CPU in tables; ATTUNE_CPU, or else by its own identification, if not given");
  command->callback([r] { run(*r); });
}

} // namespace attune

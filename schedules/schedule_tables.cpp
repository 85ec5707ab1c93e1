#include "schedules/schedule_tables.hpp"
#include "dsl/pipeline/mask.hpp"
#include "schedules/bucket_names.hpp"
#include "schedules/family.hpp"
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace attune {
namespace fs = std::filesystem;

namespace {
using json = nlohmann::ordered_json;

json json_of(const table_record &r) {
  json parameters = json::object();
  for (const auto &[name, value] : r.schedule.parameters) parameters[name] = value;
  return {{"spec", r.spec}, {"hash", r.hash}, {"bucket", name_of(r.bucket)},
          {"shape", {{"element", r.shape.element}, {"head_dim", r.shape.head_dim}, {"value_dim", r.shape.value_dim}, {"trimmed", r.shape.trimmed},
                     {"grouped", r.shape.grouped}, {"mapped", r.shape.mapped}}},
          {"call", {{"batch", r.batch}, {"queries", r.queries}, {"keys", r.keys}, {"threads", r.threads}}},
          {"schedule", r.schedule.text()}, {"family", r.schedule.family}, {"parameters", parameters},
          {"median_seconds", r.median}, {"mad_seconds", r.mad}, {"samples", r.samples}, {"default_median_seconds", r.default_median}, {"peak_gflops", r.peak},
          {"versions", {{"attune", r.attune_version}, {"halide", r.halide_version}, {"llvm", r.llvm_version}}}, {"date", r.date}};
}

table_record record_from(const json &j) {
  table_record r;
  r.spec = j.at("spec");
  r.hash = j.at("hash");
  r.bucket = bucket_named(j.at("bucket"));
  const json &shape = j.at("shape"), &call = j.at("call"), &versions = j.at("versions");
  r.shape = {shape.at("element"), shape.at("head_dim"), shape.at("value_dim"), shape.at("trimmed"), shape.at("grouped"), shape.at("mapped")};
  r.batch = call.at("batch"), r.queries = call.at("queries"), r.keys = call.at("keys"), r.threads = call.at("threads");
  r.schedule.family = j.at("family");
  for (const auto &[name, value] : j.at("parameters").items()) r.schedule.parameters.emplace_back(name, value);
  r.median = j.at("median_seconds"), r.mad = j.at("mad_seconds"), r.samples = j.at("samples");
  r.default_median = j.at("default_median_seconds"), r.peak = j.at("peak_gflops");
  r.attune_version = versions.at("attune"), r.halide_version = versions.at("halide"), r.llvm_version = versions.at("llvm");
  r.date = j.at("date");
  return r;
}

using sayer = std::function<void(const std::string &)>;

/// The first word of a CPU's name (runtime/cpu_name.hpp): amd, intel, arm.
std::string maker_of(const std::string &cpu) { return cpu.substr(0, cpu.find('-')); }

/// Whether a CPU can be one that the target is for: kernels for ARM are emitted on other machines too.
bool is_of_target(const std::string &cpu, const target_info &target) { return (maker_of(cpu) == "arm") == (target.host == architecture::aarch64); }

/// The tables of one folder for a target, in the order of names: of the CPU itself; of its maker's others; of other makers', which
/// are not taken: tiles are cut for the sizes of caches, which differ more between makers, and a default is then often faster.
/// Where the CPU is not known, or is none that the target is for, no table is foreign.
struct folder_tables {
  std::vector<schedule_table> exact, akin, foreign;
};
folder_tables tables_in(const fs::path &folder, const target_info &target, const std::string &cpu, const sayer &say) {
  std::set<fs::path> files;
  std::error_code none;
  for (const auto &entry : fs::directory_iterator(folder / target.name, none))
    if (entry.path().extension() == ".json") files.insert(entry.path());
  const bool known = !cpu.empty() && is_of_target(cpu, target);
  folder_tables found;
  for (const fs::path &file : files) try {
      const std::string name = file.stem().string();
      auto &kind = name == cpu ? found.exact : !known || maker_of(name) == maker_of(cpu) ? found.akin : found.foreign;
      if (const auto table = read_table(file)) kind.push_back(*table);
    } catch (const std::exception &e) {
      say(std::string(e.what()) + "; the file is passed over");
    }
  return found;
}

struct candidate {
  const schedule_table *table;
  const table_record *record;
};

schedule_point chosen(const candidate &c) {
  schedule_point point = c.record->schedule;
  point.origin = "table " + c.table->target + "/" + c.table->cpu;
  return point;
}

std::optional<schedule_point> best_of_spec(const std::vector<schedule_table> &tables, const operator_description &op, const target_info &target,
                                           length_bucket bucket, const sayer &say) {
  const std::string hash = spec_hash(op);
  std::vector<candidate> own;
  for (const schedule_table &table : tables)
    for (const table_record &r : table.records)
      if (r.hash == hash && r.bucket == bucket) own.push_back({&table, &r});
  std::stable_sort(own.begin(), own.end(), [](const candidate &a, const candidate &b) { return a.record->ratio() > b.record->ratio(); });
  for (const candidate &c : own) {
    const std::string reason = why_unusable(op, target, bucket, c.record->schedule);
    if (reason.empty()) return chosen(c);
    say("the record of " + c.record->spec + " for " + name_of(bucket) + " in table " + c.table->target + "/" + c.table->cpu + " is passed over: " + reason);
  }
  return std::nullopt;
}

/// A schedule that several similar specs share is as good as its ratios are on average.
std::optional<schedule_point> best_of_similar(const std::vector<schedule_table> &tables, const operator_description &op, const target_info &target,
                                              length_bucket bucket) {
  struct shared {
    candidate first;
    double sum = 0;
    int count = 0;
    double average() const { return sum / count; }
  };
  std::map<std::string, shared> by_schedule;
  const spec_shape shape = shape_of(op);
  for (const schedule_table &table : tables)
    for (const table_record &r : table.records) {
      if (r.bucket != bucket || !(r.shape == shape) || !why_unusable(op, target, bucket, r.schedule).empty()) continue;
      shared &s = by_schedule.try_emplace(r.schedule.text(), shared{{&table, &r}}).first->second;
      s.sum += r.ratio();
      ++s.count;
    }
  const auto best = std::max_element(by_schedule.begin(), by_schedule.end(), [](const auto &a, const auto &b) { return a.second.average() < b.second.average(); });
  if (best == by_schedule.end()) return std::nullopt;
  schedule_point point = chosen(best->second.first);
  point.why = "of " + best->second.first.record->spec + ", which has the same shape";
  return point;
}

table_places &places() {
  static table_places in_use = places_from_environment("");
  return in_use;
}

void say_once(const std::string &text) {
  static std::mutex lock;
  static std::set<std::string> said;
  const std::lock_guard hold(lock);
  if (said.insert(text).second) std::cerr << "attune: " << text << "\n";
}
} // namespace

spec_shape shape_of(const operator_description &op) {
  const numbers &n = op.n;
  return {name_of(n.element), n.head_dim, n.value_dim, is_trimmed(op), n.heads != n.kv_heads, !is_affine(op)};
}

void schedule_table::put(table_record r) {
  const auto same = std::find_if(records.begin(), records.end(), [&](const table_record &old) { return old.hash == r.hash && old.bucket == r.bucket; });
  if (same == records.end()) records.push_back(std::move(r));
  else *same = std::move(r);
}

fs::path table_path(const fs::path &folder, const std::string &target, const std::string &cpu) { return folder / target / (cpu + ".json"); }

std::string text_of(const schedule_table &t) {
  std::vector<table_record> sorted = t.records;
  std::stable_sort(sorted.begin(), sorted.end(), [](const table_record &a, const table_record &b) { return std::pair(a.spec, a.bucket) < std::pair(b.spec, b.bucket); });
  json records = json::array();
  for (const table_record &r : sorted) records.push_back(json_of(r));
  return json{{"schema", schedule_table::schema}, {"target", t.target}, {"cpu", t.cpu}, {"records", records}}.dump(2) + "\n";
}

namespace {
/// What was wrong; what the JSON library says without its own numbers: "key 'shape' not found".
std::string reason_of(const std::exception &e) {
  const std::string text = e.what();
  const std::size_t end = dynamic_cast<const json::exception *>(&e) ? text.find("] ") : text.npos;
  return end == text.npos ? text : text.substr(end + 2);
}
} // namespace

schedule_table table_from(const std::string &text, const std::string &where) try {
  const json j = json::parse(text);
  if (const int schema = j.at("schema"); schema != schedule_table::schema)
    throw std::runtime_error("its schema is " + std::to_string(schema) + ", expected " + std::to_string(schedule_table::schema));
  schedule_table t{j.at("target"), j.at("cpu"), {}};
  for (const json &record : j.at("records")) try {
      t.records.push_back(record_from(record));
    } catch (const std::exception &e) {
      throw std::runtime_error("record " + std::to_string(t.records.size()) + " (counted from 0): " + reason_of(e));
    }
  return t;
} catch (const std::exception &e) {
  throw std::runtime_error(where + " is not a table of schedules: " + reason_of(e));
}

std::optional<schedule_table> read_table(const fs::path &file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return table_from(text.str(), file.string());
}

std::string why_unusable(const operator_description &op, const target_info &target, length_bucket bucket, const schedule_point &point) {
  const auto &families = schedule_families();
  const auto found = std::find_if(families.begin(), families.end(), [&](const schedule_family *f) { return f->name() == point.family; });
  if (found == families.end()) return "there is no schedule family \"" + point.family + "\"";
  const schedule_family &family = **found;
  if (const std::string reason = family.why_not(op, target, bucket); !reason.empty()) return reason;
  const auto names = [](const schedule_point &p) {
    std::vector<std::string> all;
    for (const auto &[name, value] : p.parameters) all.push_back(name);
    return all;
  };
  const schedule_point expected = family.default_point(op, target);
  if (names(point) != names(expected)) return "its parameters are \"" + point.text() + "\", expected those of \"" + expected.text() + "\"";
  return family.broken_rule(op, target, point);
}

table_places places_from_environment(const std::string &own_cpu) {
  table_places p;
  if (const char *folder = std::getenv("ATTUNE_TABLES"); folder && *folder) p.folders.emplace_back(folder);
  p.folders.emplace_back(ATTUNE_SHIPPED_TABLES);
  const char *cpu = std::getenv("ATTUNE_CPU");
  p.cpu = cpu && *cpu ? cpu : own_cpu;
  return p;
}

std::set<std::string> cpus_with_tables(const std::vector<fs::path> &folders) {
  std::set<std::string> cpus;
  std::error_code none;
  for (const fs::path &folder : folders)
    for (const target_info &t : all_targets)
      for (const auto &entry : fs::directory_iterator(folder / t.name, none))
        if (entry.path().extension() == ".json") cpus.insert(entry.path().stem().string());
  return cpus;
}

const table_places &tables_in_use() { return places(); }
void use_tables(table_places p) { places() = std::move(p); }

std::optional<schedule_point> look_up(const table_places &where, const operator_description &op, const target_info &target, length_bucket bucket, const sayer &say) {
  for (const fs::path &folder : where.folders) {
    const folder_tables found = tables_in(folder, target, where.cpu, say);
    for (const auto *tables : {&found.exact, &found.akin}) {
      auto point = best_of_spec(*tables, op, target, bucket, say);
      if (!point) point = best_of_similar(*tables, op, target, bucket);
      if (!point) continue;
      if (folder == ATTUNE_SHIPPED_TABLES) point->origin = "shipped " + point->origin;
      return point;
    }
  }
  return std::nullopt;
}

std::string why_no_record(const operator_description &op, const target_info &target, length_bucket bucket) {
  const std::string hash = spec_hash(op);
  const spec_shape shape = shape_of(op);
  bool any_table = false, other_lengths = false;
  std::string foreign;
  for (const fs::path &folder : places().folders) {
    const folder_tables found = tables_in(folder, target, places().cpu, say_once);
    any_table |= !found.exact.empty() || !found.akin.empty() || !found.foreign.empty();
    for (const auto *tables : {&found.exact, &found.akin})
      for (const schedule_table &table : *tables)
        for (const table_record &r : table.records) {
          if (r.hash != hash) continue;
          if (r.bucket == bucket) return "its record in table " + table.target + "/" + table.cpu + " cannot be used: " + why_unusable(op, target, bucket, r.schedule);
          other_lengths = true;
        }
    for (const schedule_table &table : found.foreign)
      for (const table_record &r : table.records)
        if (r.bucket == bucket && (r.hash == hash || r.shape == shape)) foreign = table.target + "/" + table.cpu;
  }
  if (!any_table) return std::string("there is no table for ") + target.name;
  if (!foreign.empty()) return "no table of this maker's CPUs has a record for these lengths that can be used; another maker's, " + foreign + ", is not looked at, since this CPU is " + places().cpu;
  return other_lengths ? "tables have records of this spec for other lengths alone" : "no table has a record of this spec, or of one of its shape, for these lengths";
}

std::optional<schedule_point> look_up(const operator_description &op, const target_info &target, length_bucket bucket) {
  return look_up(places(), op, target, bucket, say_once);
}

} // namespace attune

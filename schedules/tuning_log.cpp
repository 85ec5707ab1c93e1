#include "schedules/tuning_log.hpp"
#include "schedules/bucket_names.hpp"
#include "schedules/make_folder.hpp"
#include <algorithm>
#include <nlohmann/json.hpp>

namespace attune {
namespace {
using json = nlohmann::ordered_json;

trial_status status_named(const std::string &name) {
  for (const trial_status s : {trial_status::ok, trial_status::constraint, trial_status::compile_fail, trial_status::timeout, trial_status::wrong, trial_status::crashed})
    if (name == name_of(s)) return s;
  throw std::runtime_error("there is no status \"" + name + "\"");
}
} // namespace

std::string line_of(const log_entry &e) {
  json parameters = json::object();
  for (const auto &[name, value] : e.result.point.parameters) parameters[name] = value;
  return json{{"spec", e.key.spec}, {"hash", e.key.hash}, {"target", e.key.target}, {"cpu", e.key.cpu}, {"bucket", name_of(e.key.bucket)},
              {"batch", e.key.batch}, {"queries", e.key.queries}, {"keys", e.key.keys}, {"threads", e.key.threads}, {"generator", e.key.generator},
              {"final", e.final}, {"status", name_of(e.result.status)}, {"why", e.result.why}, {"family", e.result.point.family}, {"parameters", parameters},
              {"ratio", e.result.ratio}, {"seconds", e.result.seconds}, {"default_median_seconds", e.result.default_median}, {"peak_gflops", e.result.peak}}
      .dump();
}

log_entry entry_from(const std::string &line) {
  const json j = json::parse(line);
  log_entry e;
  e.key.spec = j.at("spec"), e.key.hash = j.at("hash"), e.key.target = j.at("target"), e.key.cpu = j.at("cpu");
  e.key.bucket = bucket_named(j.at("bucket"));
  e.key.batch = j.at("batch"), e.key.queries = j.at("queries"), e.key.keys = j.at("keys"), e.key.threads = j.at("threads"), e.key.generator = j.at("generator");
  e.final = j.at("final");
  trial &t = e.result;
  t.status = status_named(j.at("status"));
  t.why = j.at("why"), t.point.family = j.at("family");
  for (const auto &[name, value] : j.at("parameters").items()) t.point.parameters.emplace_back(name, value);
  t.ratio = j.at("ratio"), t.seconds = j.at("seconds").get<std::vector<double>>(), t.default_median = j.at("default_median_seconds"), t.peak = j.at("peak_gflops");
  return e;
}

tuning_log::tuning_log(std::filesystem::path file) : file_(std::move(file)) {
  make_folder(file_.parent_path());
  std::uintmax_t whole = 0; // bytes of complete lines
  if (std::ifstream in(file_, std::ios::binary); in)
    for (std::string line; std::getline(in, line) && !in.eof(); whole += line.size() + 1) try {
        earlier_.push_back(entry_from(line));
      } catch (const std::exception &) {
        ++skipped_;
      }
  if (std::error_code none; std::filesystem::file_size(file_, none) != whole && !none) {
    ++skipped_; // a line without its end: the program was killed while it wrote
    std::filesystem::resize_file(file_, whole, none); // a file that may not be written is said below
  }
  out_.open(file_, std::ios::binary | std::ios::app);
  if (!out_) throw std::runtime_error("the log " + file_.string() + " cannot be written: is its folder read-only?");
}

bool tuning_log::is_finished(const tuning_key &key) const {
  return std::any_of(earlier_.begin(), earlier_.end(), [&](const log_entry &e) { return e.final && e.key == key; });
}

void tuning_log::append(const log_entry &e) {
  out_ << line_of(e) + "\n" << std::flush;
  if (!out_) throw std::runtime_error("the log " + file_.string() + " cannot be written any more: is the disk full?");
}

} // namespace attune

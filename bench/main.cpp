// attune bench: our kernels and other implementations side by side, as JSON and as a table. docs/benchmarks.md.
#include "generated/command_line.hpp"
#include "generated/timing/interrupt.hpp"
#include "bench/machine.hpp"
#include "bench/results.hpp"
#include "bench/sampling.hpp"
#include "generated/files.hpp"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <regex>

namespace attune::bench {
namespace {
namespace fs = std::filesystem;

struct request {
  fs::path json;
  std::string filter;
  int rounds = 15;
  std::vector<int> threads{1, 2};
  peer_setting peers;
  int patience = 180;
  bool list = false;
};

/// Progress goes to the terminal's error stream; results to standard output.
template <class... A> void say(fmt::format_string<A...> format, A &&...a) {
  fmt::print(stderr, format, std::forward<A>(a)...);
  std::fflush(stderr);
}

std::regex regex_of(const std::string &filter) {
  try {
    return std::regex(filter);
  } catch (const std::regex_error &e) {
    throw std::runtime_error(fmt::format("--filter \"{}\" is no regular expression: {}", filter, e.what()));
  }
}

std::vector<work> chosen_works(const request &r) {
  const std::regex wanted = regex_of(r.filter);
  std::vector<work> chosen;
  for (const work &w : all_works())
    if (std::regex_search(w.name, wanted) && std::find(r.threads.begin(), r.threads.end(), w.threads) != r.threads.end()) chosen.push_back(w);
  if (chosen.empty())
    throw std::runtime_error(fmt::format("no work matches --filter \"{}\" with --threads {}; \"attune bench --list\" shows all", r.filter,
                                         fmt::join(r.threads, ",")));
  return chosen;
}

int list(const std::vector<work> &works) {
  for (const work &w : works) {
    const std::string reason = w.why_not();
    fmt::print("{}{}\n", w.name, reason.empty() ? "" : fmt::format("  (not here: {})", reason));
  }
  return 0;
}

/// Google Benchmark prints nothing: rows are complete only when the run's peaks are known.
struct silent_reporter : benchmark::BenchmarkReporter {
  bool ReportContext(const Context &) override { return true; }
  void ReportRuns(const std::vector<Run> &) override {}
};

/// A run and what it has so far. The file is written anew after each row, so that nothing complete is ever lost.
class session {
public:
  explicit session(const request &r) : request_(r), load_before_(load_now()), run_(r.peers) {
    if (!run_.peers.missing().empty()) say("peers that are not installed (scripts/setup_peers): {}\n", fmt::join(run_.peers.missing(), ", "));
  }

  void add(const std::vector<work> &works) {
    for (const work &w : works) {
      if (const std::string reason = w.why_not(); !reason.empty()) {
        not_run_[w.name] = reason;
        say("{} is left out: {}\n", w.name, reason);
        continue;
      }
      ++registered_;
      benchmark::RegisterBenchmark(w.name.c_str(), [this, w](benchmark::State &state) { row(w, state); })
          ->Iterations(w.counts == measure::scratch ? 1 : request_.rounds)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }

  /// The exit status.
  int finish() {
    silent_reporter silent;
    benchmark::RunSpecifiedBenchmarks(&silent);
    if (!rows_.empty()) fmt::print("{}", as_text(rows_, run_.peaks));
    write();
    return interrupted() ? exit_status::interrupted : failures_ > 0 ? exit_status::failed : exit_status::done;
  }

private:
  void row(const work &w, benchmark::State &state) {
    if (interrupted()) return state.SkipWithError("interrupted");
    say("[{}/{}] {}", ++begun_, registered_, w.name);
    try {
      rows_.push_back(run_.measure(w, state));
      const auto &seconds = rows_.back().seconds;
      say("  {:.4g} ms, peers: {}\n", 1e3 * median_of(seconds.at(ours)), std::count_if(seconds.begin(), seconds.end(), [](const auto &s) { return !is_ours(s.first); }));
      write();
    } catch (const interruption &) {
      say("  interrupted\n");
      state.SkipWithError("interrupted");
    } catch (const std::exception &e) {
      ++failures_;
      not_run_[w.name] = e.what();
      say("  failed: {}\n", e.what());
      state.SkipWithError(e.what());
    }
  }

  void write() const {
    if (request_.json.empty() || (interrupted() && rows_.empty())) return;
    nlohmann::ordered_json j = {{"machine", describe_machine(run_, load_before_)}, {"rows", nlohmann::ordered_json::array()}, {"not_run", not_run_}};
    for (const row_result &r : rows_) j["rows"].push_back(as_json(r, run_.peaks));
    write_if_different(fs::absolute(request_.json), j.dump(1) + "\n");
  }

  request request_;
  std::vector<double> load_before_;
  bench_run run_;
  std::vector<row_result> rows_;
  std::map<std::string, std::string> not_run_;
  int registered_ = 0, begun_ = 0, failures_ = 0;
};

/// Said at once, not after the first row.
void require_writable(const fs::path &json) {
  const unfinished_file tried(fs::absolute(json));
  if (fs::is_directory(json)) throw std::runtime_error(fmt::format("--json {}: no file can be written there, it is a folder", json.string()));
}

int run(request r) {
  const std::vector<work> works = chosen_works(r);
  if (r.list) return list(works);
  if (!r.json.empty()) require_writable(r.json);
  r.peers.patience = std::chrono::seconds(r.patience);
  catch_interrupts();
  session s(r);
  s.add(works);
  return s.finish();
}

/// <build folder>/peers, where scripts/setup_peers puts them; ours is <build folder>/bin/attune_bench.
fs::path default_peers_folder() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "peers"; }

} // namespace
} // namespace attune::bench

int main(int argc, char **argv) {
  attune::bench::request r;
  r.peers.names = {"auto"};
  r.peers.folder = attune::bench::default_peers_folder();
  CLI::App app("Times Attune's kernels and other implementations side by side.", "attune bench");
  app.add_option("--json", r.json, "file to write all numbers to");
  app.add_option("--filter", r.filter, "regular expression: only works whose name has a match");
  app.add_option("--rounds", r.rounds, "rounds of each work")->check(CLI::Range(1, 10000))->capture_default_str();
  app.add_option("--threads", r.threads, "only works on so many threads: 1, 2 or 1,2")->delimiter(',')->check(CLI::Range(1, 2))->capture_default_str();
  app.add_option("--peers", r.peers.names, "auto: those that are installed; none; or names: onnxruntime,openvino")->delimiter(',')->capture_default_str();
  app.add_option("--peers-folder", r.peers.folder, "where peers are installed")->capture_default_str();
  app.add_option("--patience", r.patience, "seconds that a peer may take for one answer")->check(CLI::Range(1, 86400))->capture_default_str();
  app.add_flag("--list", r.list, "prints the works and does not run them");
  app.footer(attune::exit_status_help);
  app.callback([&] {
    if (const int status = attune::bench::run(r); status != attune::exit_status::done) throw CLI::RuntimeError(status);
  });
  return attune::run_command_line(app, argc, argv, "attune bench");
}

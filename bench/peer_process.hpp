// Another implementation of attention, in a process of its own. One line of JSON each way over its standard input and
// output; docs/benchmarks.md lists the requests and their replies. A peer that dies, hangs or answers nonsense is ended and
// throws peer_error; nothing that it does can end or falsify a run.
#pragma once
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace attune::bench {

/// One sentence that says what a peer did wrong.
struct peer_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a peer says to a work.
struct peer_offer {
  std::string version;
  std::vector<std::string> ways;               ///< how it can compute the work, by its own names: "MultiHeadAttention"
  std::map<std::string, std::string> left_out; ///< the ways that it cannot use here, and why
};

class peer_process {
public:
  /// Starts `program`. What it prints beside the protocol goes to `log`. Throws peer_error.
  peer_process(std::string name, const std::filesystem::path &program, const std::filesystem::path &log, std::chrono::seconds patience);
  ~peer_process();
  peer_process(const peer_process &) = delete;
  peer_process &operator=(const peer_process &) = delete;

  const std::string &name() const { return name_; }
  peer_offer prepare(const nlohmann::json &work);
  /// Seconds of each of `calls` calls.
  std::vector<double> run(const std::string &way, int calls);
  /// The output of the last call, as float in the order of our own.
  std::vector<float> result(const std::string &way, const std::filesystem::path &file);

private:
  nlohmann::json ask(const nlohmann::json &request);
  std::string read_line();
  [[noreturn]] void fail(const std::string &what);
  void end();

  std::string name_, unread_;
  std::filesystem::path log_;
  std::chrono::seconds patience_;
  int process_ = -1, to_ = -1, from_ = -1;
};

} // namespace attune::bench

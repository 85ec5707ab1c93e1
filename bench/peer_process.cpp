#include "bench/peer_process.hpp"
#include "generated/timing/interrupt.hpp"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace attune::bench {
namespace {
using json = nlohmann::json;

/// The last line that a peer printed, cut to what a message needs.
std::string last_line(const std::filesystem::path &log) {
  std::ifstream in(log);
  std::string line, last;
  while (std::getline(in, line))
    if (line.find_first_not_of(" \t\r") != line.npos) last = line;
  return last.substr(0, 200);
}

struct pipe_ends {
  int read = -1, write = -1;
  pipe_ends() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw peer_error(fmt::format("no pipe could be made: {}", std::strerror(errno)));
    read = ends[0], write = ends[1];
  }
};
} // namespace

peer_process::peer_process(std::string name, const std::filesystem::path &program, const std::filesystem::path &log, std::chrono::seconds patience)
    : name_(std::move(name)), log_(log), patience_(patience) {
  std::signal(SIGPIPE, SIG_IGN); // a peer that has ended shows as a failed write
  const pipe_ends requests, replies;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, requests.read, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, replies.write, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP); // Ctrl-C is for us: we end our peers ourselves
  const std::string path = program.string();
  char *const arguments[] = {const_cast<char *>(path.c_str()), nullptr};
  const int failed = posix_spawn(&process_, path.c_str(), &files, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  close(requests.read), close(replies.write);
  to_ = requests.write, from_ = replies.read;
  if (failed) {
    process_ = -1;
    fail(fmt::format("could not be started: {}: {}", path, std::strerror(failed)));
  }
}

peer_process::~peer_process() { end(); }

void peer_process::end() {
  if (to_ >= 0) close(to_);
  if (from_ >= 0) close(from_);
  if (process_ > 0) {
    kill(-process_, SIGKILL); // it has a process group of its own, and nothing to save
    waitpid(process_, nullptr, 0);
  }
  to_ = from_ = process_ = -1;
}

void peer_process::fail(const std::string &what) {
  end();
  const std::string said = last_line(log_);
  throw peer_error(fmt::format("{} {}{}", name_, what, said.empty() ? "" : "; it printed last: " + said));
}

std::string peer_process::read_line() {
  const auto until = std::chrono::steady_clock::now() + patience_;
  for (;;) {
    if (const auto newline = unread_.find('\n'); newline != unread_.npos) {
      const std::string line = unread_.substr(0, newline);
      unread_.erase(0, newline + 1);
      return line;
    }
    if (interrupted()) fail("was interrupted");
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) fail(fmt::format("did not answer within {} seconds", patience_.count()));
    pollfd waiting{from_, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(left)) <= 0) continue;
    char piece[65536];
    const ssize_t got = read(from_, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("ended in the middle of its work");
    unread_.append(piece, static_cast<std::size_t>(got));
  }
}

json peer_process::ask(const json &request) {
  if (process_ < 0) throw peer_error(fmt::format("{} has ended", name_));
  const std::string line = request.dump() + "\n";
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t n = write(to_, line.data() + sent, line.size() - sent);
    if (n < 0 && errno != EINTR) fail("ended before it was asked");
    if (n > 0) sent += static_cast<std::size_t>(n);
  }
  const std::string answer = read_line();
  const json reply = json::parse(answer, nullptr, false);
  if (!reply.is_object()) fail(fmt::format("answered with what is no JSON object: {}", answer.substr(0, 100)));
  if (const auto error = reply.find("error"); error != reply.end())
    throw peer_error(fmt::format("{}: {}", name_, error->is_string() ? error->get<std::string>() : error->dump()));
  return reply;
}

peer_offer peer_process::prepare(const json &work) {
  const json reply = ask({{"prepare", work}});
  try {
    peer_offer offer;
    reply.at("version").get_to(offer.version);
    reply.at("ways").get_to(offer.ways);
    reply.at("left_out").get_to(offer.left_out);
    return offer;
  } catch (const json::exception &e) {
    fail(fmt::format("answered to \"prepare\" with {}: {}", reply.dump().substr(0, 200), e.what()));
  }
}

std::vector<double> peer_process::run(const std::string &way, int calls) {
  const json reply = ask({{"run", way}, {"calls", calls}});
  std::vector<double> seconds;
  try {
    for (const double ns : reply.at("nanoseconds").get<std::vector<double>>()) seconds.push_back(ns / 1e9);
  } catch (const json::exception &e) {
    fail(fmt::format("answered to \"run\" with {}: {}", reply.dump().substr(0, 200), e.what()));
  }
  for (const double s : seconds)
    if (!(s > 0)) fail(fmt::format("says that a call took {} s", s));
  if (static_cast<int>(seconds.size()) != calls) fail(fmt::format("was asked for {} calls and made {}", calls, seconds.size()));
  return seconds;
}

std::vector<float> peer_process::result(const std::string &way, const std::filesystem::path &file) {
  ask({{"result", way}, {"file", file.string()}});
  std::error_code none;
  const auto bytes = std::filesystem::file_size(file, none);
  if (none) fail(fmt::format("wrote no result to {}", file.string()));
  std::vector<float> values(bytes / sizeof(float));
  std::ifstream(file, std::ios::binary).read(reinterpret_cast<char *>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  std::filesystem::remove(file, none);
  return values;
}

} // namespace attune::bench

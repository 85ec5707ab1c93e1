#include "generated/tuning/child_process.hpp"
#include "generated/files.hpp"
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace attune {
namespace {

using clock = std::chrono::steady_clock;

void print_into(const std::filesystem::path &output) {
  const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  close(file);
}

void run_on(const std::vector<int> &cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

int result_of(const std::function<int()> &body) {
  try {
    return body();
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

std::string last_line(const std::string &text) {
  const auto end = text.find_last_not_of(" \n");
  if (end == text.npos) return "";
  const auto before = text.rfind('\n', end);
  return text.substr(before == text.npos ? 0 : before + 1, end - (before == text.npos ? 0 : before + 1) + 1);
}

} // namespace

child_process::child_process(const std::function<int()> &body, std::filesystem::path output, const std::vector<int> &cores, std::chrono::duration<double> patience)
    : output_(std::move(output)), deadline_(clock::now() + std::chrono::duration_cast<clock::duration>(patience)) {
  std::fflush(nullptr); // else the child would print the parent's buffers again
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) throw std::runtime_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (process_ > 0) {
    setpgid(process_, process_); // here and there, whichever comes first
    return;
  }
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  print_into(output_);
  run_on(cores);
  const int result = result_of(body);
  std::fflush(nullptr);
  _exit(result);
}

child_process::child_process(child_process &&other) noexcept
    : process_(std::exchange(other.process_, -1)), output_(std::move(other.output_)), deadline_(other.deadline_) {}

child_process::~child_process() {
  if (process_ < 0) return;
  kill(-process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

process_end child_process::end_of(int status) const {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string said = last_line(text_of(output_));
  if (WIFSIGNALED(status)) return {process_end::crashed, fmt::format("{}{}{}", strsignal(WTERMSIG(status)), said.empty() ? "" : ": ", said)};
  return {process_end::failed, said.empty() ? fmt::format("exit status {}", WEXITSTATUS(status)) : said};
}

std::optional<process_end> child_process::poll() {
  int status = 0;
  if (waitpid(process_, &status, WNOHANG) == process_) {
    process_ = -1;
    return end_of(status);
  }
  if (clock::now() < deadline_) return std::nullopt;
  kill(-process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
  return process_end{process_end::timeout, "took too long and was ended"};
}

process_end child_process::wait() {
  for (;;) {
    if (const auto ended = poll()) return *ended;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

} // namespace attune

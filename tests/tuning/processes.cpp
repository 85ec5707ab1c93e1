// Work in processes of its own: every way to end is an answer.
#include "generated/tuning/child_process.hpp"
#include "tests/codegen/emission/folder.hpp"
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <poll.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace attune;
using Catch::Matchers::Contains;

namespace {
process_end end_of(const std::function<int()> &body, double patience = 60) {
  const own_folder folder;
  return child_process(body, folder.path / "said.txt", {0}, std::chrono::duration<double>(patience)).wait();
}
} // namespace

TEST_CASE("work that returns 0 is done") {
  CHECK(end_of([] { return 0; }).how == process_end::done);
}

TEST_CASE("work that fails says why in its last line") {
  const process_end e = end_of([] {
    std::fprintf(stderr, "first\nthe reason\n");
    return 3;
  });
  CHECK(e.how == process_end::failed);
  CHECK(e.what == "the reason");
  CHECK(end_of([] { return 3; }).what == "exit status 3");
  CHECK(end_of([]() -> int { throw std::runtime_error("thrown"); }).what == "thrown");
}

TEST_CASE("a crash is an answer") {
  const process_end e = end_of([] { return std::raise(SIGKILL); });
  CHECK(e.how == process_end::crashed);
  CHECK_THAT(e.what, Contains("Killed"));
}

TEST_CASE("work that hangs is ended") {
  const process_end e = end_of([] { return pause(); }, 0.1);
  CHECK(e.how == process_end::timeout);
}

TEST_CASE("a process and what it started end with their owner, and Ctrl-C does not reach them") {
  const own_folder folder;
  const auto file = folder.path / "alive";
  int ends[2]; // closed at the writing end once both processes have ended
  REQUIRE(pipe(ends) == 0);
  {
    child_process process([&] {
      std::raise(SIGINT);
      if (fork() == 0) return pause();
      std::fclose(std::fopen(file.c_str(), "w"));
      return pause();
    }, folder.path / "said.txt", {0}, std::chrono::seconds(60));
    close(ends[1]);
    while (!std::filesystem::exists(file) && !process.poll()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(std::filesystem::exists(file));
  }
  errno = 0;
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD); // nothing is left to wait for
  pollfd closed{ends[0], POLLIN, 0};
  CHECK(poll(&closed, 1, 60000) == 1);
  CHECK((closed.revents & POLLHUP) != 0);
  close(ends[0]);
}

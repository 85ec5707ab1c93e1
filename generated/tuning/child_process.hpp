// Work in a process of its own: when it crashes or hangs, that is an answer and not the end.
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace attune {

struct process_end {
  enum how_type { done, failed, crashed, timeout } how = done;
  std::string what; ///< unless done: the last line that it printed, or the signal
};

/// A fork of this process, in a process group of its own: signals to the parent's group are for the parent to handle, and what it
/// starts (a linker) is ended with it. It ignores Ctrl-C and dies with the parent.
class child_process {
public:
  /// Runs `body` on these CPUs; it has failed if it returns anything but 0 or throws. What it prints goes to `output`.
  /// It is ended after `patience`.
  child_process(const std::function<int()> &body, std::filesystem::path output, const std::vector<int> &cores, std::chrono::duration<double> patience);
  child_process(child_process &&other) noexcept;
  child_process &operator=(child_process &&) = delete;
  /// Ends it if it runs.
  ~child_process();

  /// How it ended; nothing while it runs.
  std::optional<process_end> poll();
  /// Waits for its end.
  process_end wait();

private:
  process_end end_of(int status) const;
  pid_t process_ = -1;
  std::filesystem::path output_;
  std::chrono::steady_clock::time_point deadline_;
};

} // namespace attune

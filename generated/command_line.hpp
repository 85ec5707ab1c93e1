// Running a command line, with exit statuses that mean the same in every command of the tool.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>
#include <stdexcept>

namespace attune {

namespace exit_status {
inline constexpr int done = 0;
inline constexpr int failed = 1;        ///< what was checked or timed is wrong
inline constexpr int not_done = 2;      ///< a mistake on the command line, or something that is missing or cannot be written
inline constexpr int interrupted = 130; ///< as a shell says of SIGINT
} // namespace exit_status

inline constexpr const char *exit_status_help =
    "Exit status: 0 done; 1 a kernel that was checked, tuned or timed is wrong or fails; 2 not done (a mistake on the command line, something missing or not to be written); "
    "130 interrupted.";

/// A kernel that is wrong or fails, where there is no going on.
struct failed_kernel : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Parses, runs the callbacks, and says what they throw in a sentence that begins with `name`.
inline int run_command_line(CLI::App &app, int argc, char **argv, const char *name) {
  const auto say = [&](const std::exception &e, int status) {
    fmt::print(stderr, "{}: {}\n", name, e.what());
    return status;
  };
  try {
    app.parse(argc, argv);
    return exit_status::done;
  } catch (const CLI::RuntimeError &e) { // a callback that has said what there is to say
    return e.get_exit_code();
  } catch (const CLI::ParseError &e) { // --help and --version are among these
    return app.exit(e) == 0 ? exit_status::done : exit_status::not_done;
  } catch (const failed_kernel &e) {
    return say(e, exit_status::failed);
  } catch (const std::exception &e) {
    return say(e, exit_status::not_done);
  }
}

} // namespace attune

// attune bench: runs the program attune_bench, which lies beside this one. Its kernels and Google Benchmark stay out of the tool. Only Attune's
// own tool has this command.
#include "generated/tool/commands.hpp"
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <stdexcept>
#include <unistd.h>

namespace attune {
namespace {

[[noreturn]] void run(const std::vector<std::string> &arguments) {
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string program = (folder / "attune_bench").string();
  std::vector<char *> words{const_cast<char *>(program.c_str())};
  for (const std::string &a : arguments) words.push_back(const_cast<char *>(a.c_str()));
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  throw std::runtime_error(fmt::format("bench needs the program {}, and it could not be started: {}. \"cmake --build {} --target attune_bench\" makes it.", program, std::strerror(errno),
                                       folder.parent_path().string()));
}
} // namespace

void add_bench_command(CLI::App &app) {
  CLI::App *command = app.add_subcommand("bench", "times our kernels and other implementations side by side (attune bench --help)");
  command->set_help_flag(); // every word behind "bench" goes to attune_bench
  command->prefix_command();
  command->callback([command] { run(command->remaining()); });
}

} // namespace attune

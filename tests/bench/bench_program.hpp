// Runs "attune bench" and reads what it says and writes.
#pragma once
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <sys/wait.h>

struct bench_outcome {
  int status = -1;
  std::string text; ///< standard output and error
};

/// A path as one word of a command.
inline std::string word(const std::filesystem::path &path) { return std::string("'").append(path.string()).append("'"); }

inline bench_outcome run_bench(const std::string &arguments, const std::string &tool = ATTUNE_TOOL) {
  const std::string command = word(tool) + " bench " + arguments + " 2>&1";
  FILE *const pipe = popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("popen failed");
  bench_outcome outcome;
  char piece[4096];
  for (std::size_t got; (got = fread(piece, 1, sizeof piece, pipe)) > 0;) outcome.text.append(piece, got);
  const int ended = pclose(pipe);
  outcome.status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128;
  return outcome;
}

/// A file of the test's own that is not there yet.
inline std::filesystem::path new_file(const std::string &name) {
  const std::filesystem::path file = std::filesystem::path(FOLDER) / name;
  std::filesystem::remove(file);
  return file;
}

inline nlohmann::json read_json(const std::filesystem::path &file) {
  std::ifstream in(file);
  return nlohmann::json::parse(in);
}

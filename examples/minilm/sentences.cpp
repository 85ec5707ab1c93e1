#include "sentences.hpp"
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace minilm {
namespace {

constexpr std::int32_t padding_id = 0; ///< [PAD] in the vocabulary of BERT

struct command_result {
  int status;
  std::string output;
};

/// Runs a program without a shell, so that no sentence needs quoting; its error output goes where ours goes.
command_result run_command(std::vector<std::string> arguments) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe could be opened for the tokenizer");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  std::vector<char *> argv;
  for (std::string &a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);

  command_result result{127, {}};
  if (error == 0) {
    char block[4096];
    for (ssize_t n; (n = read(ends[0], block, sizeof block)) > 0;) result.output.append(block, static_cast<std::size_t>(n));
    int status = 0;
    waitpid(child, &status, 0);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }
  close(ends[0]);
  return result;
}

std::vector<tokenised_sentence> pair_up(const std::vector<std::string> &texts, const std::vector<std::vector<std::int32_t>> &ids) {
  if (texts.size() != ids.size()) throw std::runtime_error(fmt::format("{} sentences, but token ids of {}", texts.size(), ids.size()));
  std::vector<tokenised_sentence> sentences;
  for (std::size_t i = 0; i < texts.size(); ++i) sentences.push_back({texts[i], ids[i]});
  return sentences;
}

} // namespace

std::vector<tokenised_sentence> load_sentences(const std::filesystem::path &path) try {
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error(fmt::format("{}: cannot be opened for reading", path.string()));
  const auto json = nlohmann::json::parse(stream);
  return pair_up(json.at("sentences"), json.at("input_ids"));
} catch (const nlohmann::json::exception &e) {
  throw std::runtime_error(fmt::format("{}: {}", path.string(), e.what()));
}

std::vector<tokenised_sentence> tokenise(const std::vector<std::string> &texts, const tokenizer_command &command) {
  std::vector<std::string> arguments{command.python, command.script.string(), command.tokenizer_json.string(), "--"};
  arguments.insert(arguments.end(), texts.begin(), texts.end());
  const command_result result = run_command(arguments);
  const auto json = nlohmann::json::parse(result.output, nullptr, false);
  if (result.status != 0 || json.is_discarded())
    throw std::runtime_error(fmt::format("'{}' could not turn the sentences into tokens (exit status {}). It must be a Python with the package "
                                         "`tokenizers`: name one with --python",
                                         command.python, result.status));
  return pair_up(texts, json);
}

token_batch make_batch(const std::vector<tokenised_sentence> &sentences) {
  token_batch batch;
  batch.sentences = static_cast<int>(sentences.size());
  for (const tokenised_sentence &s : sentences) {
    batch.lengths.push_back(static_cast<std::int32_t>(s.ids.size()));
    batch.tokens = std::max(batch.tokens, batch.lengths.back());
  }
  for (const tokenised_sentence &s : sentences) {
    batch.ids.insert(batch.ids.end(), s.ids.begin(), s.ids.end());
    batch.ids.insert(batch.ids.end(), static_cast<std::size_t>(batch.tokens) - s.ids.size(), padding_id);
  }
  return batch;
}

} // namespace minilm

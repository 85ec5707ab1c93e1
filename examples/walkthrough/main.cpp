// walkthrough: two introductory articles on self-attention, computed step by step with libraries that Attune generated.
#include "articles.hpp"
#include "attention.hpp"
#include "common/target.hpp"
#include <CLI/CLI.hpp>

namespace {

using namespace walkthrough;

int run(bool only_checks, const std::string &target, const std::string &reference) {
  story s(only_checks);
  fmt::print("Self-attention, step by step; every attention here runs in a library that Attune generated, on {}.\n", name_of_target(target));
  s.say("\nFIRST ARTICLE: from a sentence to its context vectors\n");
  tell_first_article(s, target);
  s.say("\nSECOND ARTICLE: heads, masks and positions\n");
  tell_second_article(s, target, reference);
  fmt::print("\n{} of {} comparisons hold.\n", s.checks() - s.failures(), s.checks());
  return s.failures() == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  bool check = false;
  std::string target, reference = ATTUNE_ARTICLES_REFERENCE;
  CLI::App app("Self-attention, step by step. Exit status 0: all comparisons hold, 1: one does not, 77: cannot run here.", "walkthrough");
  app.add_flag("--check", check, "print the comparisons only");
  app.add_option("--target", target, "run this target; by default the best that this machine can run");
  app.add_option("--reference", reference, "folder with the second article's reference values")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return run(check, target, reference);
  } catch (const examples::unavailable &e) {
    fmt::print(stderr, "walkthrough: {}\n", e.what());
    return examples::unavailable_exit;
  } catch (const std::exception &e) {
    fmt::print(stderr, "walkthrough: {}\n", e.what());
    return 1;
  }
}

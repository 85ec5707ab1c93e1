// The peers that are installed in this build folder can do what their programs say: each prepares, runs and agrees with ours, or
// gives a reason of its own. Without any, there is nothing to check.
#include "bench_program.hpp"
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <set>

TEST_CASE("Installed peers give the right answers") {
  const auto file = new_file("installed.json");
  const bench_outcome outcome = run_bench("--rounds 1 --threads 1 --filter '^(causal/f32/.*/512|layer/bf16/.*/128x768|decode/.*/12:12x64/16384|minilm/.*)$' --json " + word(file));
  INFO(outcome.text);
  REQUIRE(outcome.status == 0);
  const nlohmann::json j = read_json(file);
  const std::set<std::string> expected{"ONNX Runtime's CPU kernels have no bf16", "it has no operator for this work"};
  std::size_t timed = 0;
  for (const nlohmann::json &row : j.at("rows")) {
    timed += row.at("peers").size();
    for (const auto &[name, why] : row.at("left_out").items()) {
      INFO(row.at("work") << ", " << name);
      CHECK(expected.count(why.get<std::string>()) == 1);
    }
  }
  CHECK((timed > 0 || j.at("rows").empty()));
}

int main(int argc, char **argv) {
  namespace fs = std::filesystem;
  bool any = false;
  if (fs::is_directory(PEERS))
    for (const auto &entry : fs::directory_iterator(PEERS)) any = any || fs::exists(entry.path() / "attune-peer");
  return any ? Catch::Session().run(argc, argv) : 77;
}

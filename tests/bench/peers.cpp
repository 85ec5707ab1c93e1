// Peers that are right, wrong, or fail: only what is right is counted, everything else is named, and nothing ends the run.
#include "generated/timing/probes.hpp"
#include "bench_program.hpp"
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

namespace {
namespace fs = std::filesystem;

const std::string row_name = "prefill/f32/avx512/12x64/512";

/// A folder in which each of these names is an installed peer.
fs::path install_stubs(const std::vector<std::string> &names) {
  const fs::path folder = fs::path(FOLDER) / "stubs";
  fs::remove_all(folder);
  for (const std::string &name : names) {
    fs::create_directories(folder / name);
    fs::copy_file(STUB_PEER, folder / name / "attune-peer");
  }
  return folder;
}

std::string joined(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &w : words) text += (text.empty() ? "" : ",") + w;
  return text;
}

nlohmann::json run_with(const std::vector<std::string> &names, const std::string &more = "") {
  const fs::path folder = install_stubs(names), file = new_file("peers.json");
  const bench_outcome outcome = run_bench("--rounds 2 --filter '^" + row_name + "$' --peers " + joined(names) + " --peers-folder " + word(folder) + " --json " + word(file) + more);
  INFO(outcome.text);
  REQUIRE(outcome.status == 0);
  return read_json(file).at("rows").at(0);
}
} // namespace

TEST_CASE("A peer that is right is timed in the same rounds") {
  const nlohmann::json row = run_with({"right"});
  CHECK(row.at("left_out").empty());
  REQUIRE(row.at("peers").contains("right loops"));
  CHECK(row.at("seconds").at("right loops") == std::vector<double>{0.005, 0.005});
  CHECK(row.at("peers").at("right loops").get<double>() == Approx(row.at("operations").get<double>() / 0.005 / 1e9 / row.at("peak").get<double>()));
}

TEST_CASE("A peer that fails is left out, by name and with the reason") {
  const nlohmann::json row = run_with({"is_wrong", "is_nan", "is_short", "is_free", "dies_at_once", "dies_later", "babbles", "hangs", "declines", "right"}, " --patience 3");
  INFO(row.at("left_out").dump(1));
  CHECK(row.at("peers").size() == 1);
  CHECK(row.at("peers").contains("right loops"));
  CHECK(row.at("seconds").size() == 2); // ours and the one that is right
  const auto says = [&](const std::string &who, const std::string &sentence) {
    INFO(who);
    REQUIRE(row.at("left_out").contains(who));
    CHECK(row.at("left_out").at(who).get<std::string>().find(sentence) != std::string::npos);
  };
  says("is_wrong loops", "its answer is wrong: off from ours by 0.001");
  says("is_nan loops", "its answer is wrong");
  says("is_short loops", "its answer is wrong: 393215 numbers, expected 393216");
  says("is_free", "says that a call took 0 s");
  says("dies_at_once", "ended in the middle of its work; it printed last: out of luck");
  says("dies_later loops", "ended in the middle of its work");
  says("babbles", "answered with what is no JSON object: Loading model ...");
  says("hangs", "did not answer within 3 seconds");
  says("declines", "it is a stub");
}

TEST_CASE("A known peer that is not installed is named as missing") {
  const fs::path folder = install_stubs({"right"}), file = new_file("missing.json");
  const bench_outcome outcome = run_bench("--rounds 1 --filter '^" + row_name + "$' --peers right,openvino --peers-folder " + word(folder) + " --json " + word(file));
  INFO(outcome.text);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.text.find("not installed (scripts/setup_peers): openvino") != std::string::npos);
  const nlohmann::json machine = read_json(file).at("machine");
  CHECK(machine.at("peers_missing") == std::vector<std::string>{"openvino"});
  CHECK(machine.at("peers").at("right") == "stub 1");
}

int main(int argc, char **argv) {
  if (!attune::has_probe(attune::probe_kind::fma_512)) return 77; // peers stand beside the rows of AVX-512
  return Catch::Session().run(argc, argv);
}

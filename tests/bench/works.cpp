// Names of works, the form of the JSON, and what an interruption leaves.
#include "bench_program.hpp"
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <set>
#include <spawn.h>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace {
std::set<std::string> expected_names() {
  std::set<std::string> names;
  const auto add = [&](const std::string &family, std::initializer_list<const char *> lengths) {
    for (const char *length : lengths)
      for (const char *threads : {"", "/t2"}) names.insert(family + length + threads);
  };
  add("prefill/f32/avx512/12x64/", {"512", "1024", "4096"});
  add("prefill/f32/avx512/12x128/", {"1024", "4096"});
  add("causal/f32/avx512/12x64/", {"512", "1024", "4096"});
  add("prefill/bf16/avx512_bf16/12x64/", {"512", "1024", "4096"});
  add("prefill/bf16/avx512_amx/12x64/", {"512", "1024", "4096"});
  add("causal/bf16/avx512_amx/12x64/", {"512", "1024", "4096"});
  add("layer/bf16/avx512_amx/", {"128x768", "256x768", "512x768", "1024x768"});
  add("decode/bf16/avx512_amx/", {"32:8x128/16384", "12:12x64/16384"});
  add("causal/bf16/avx512_bf16/12x64/", {"512", "1024", "4096"});
  add("layer/f32/avx512/", {"128x768", "256x768", "512x768", "1024x768"});
  add("layer/bf16/avx512_bf16/", {"128x768", "256x768", "512x768", "1024x768"});
  add("decode/f32/avx512/", {"32:8x128/16384", "12:12x64/16384"});
  add("decode/bf16/avx512_bf16/", {"32:8x128/16384", "12:12x64/16384"});
  for (const char *one_thread : {"prefill/f32/avx2/12x64/512", "prefill/f32/avx2/12x64/1024", "prefill/f32/avx2/12x64/4096", "gemm/f32/avx512/1024x768x768",
                                 "gemm/bf16/avx512_bf16/1024x768x768", "gemm/bf16/avx512_amx/1024x768x768", "minilm/f32/avx512/8x32",
                                 "window/f32/avx512/12x64/16384", "window/f32/avx512/12x64/131072", "run_time/f32/avx512/12x64/1024", "run_time/f32/avx512/12x64/4096", "scratch/f32/avx512/12x64/131072",
                                 "scratch/bf16/avx512_bf16/12x64/131072", "scratch/bf16/avx512_amx/12x64/131072", "scratch/f32/avx512/32:8x128/131072"})
    names.insert(one_thread);
  for (const char *length : {"8192", "16384"})
    for (const char *cache : {"f32/avx512/32:8x128/", "f32/avx512/32:8x128,paged16/", "bf16/avx512_bf16/32:8x128/", "bf16/avx512_bf16/32:8x128,paged16/", "int8/avx512_bf16/32:8x128,per_head/",
                              "int8/avx512_bf16/32:8x128,per_token/", "int8/avx512_bf16/32:8x128,per_token,paged16/", "e4m3/avx512_bf16/32:8x128/", "e5m2/avx512_bf16/32:8x128/",
                              "bf16/avx512_bf16/12:12x64/", "int8/avx512_bf16/12:12x64,per_token/"})
      names.insert(std::string("cache/") + cache + length);
  for (const char *row : {"cache/f32/avx512/causal_12x64,paged16/1024", "rope/f32/avx512/12x64/1024", "rope/bf16/avx512_bf16/12x64/1024", "rope/f32/avx512/layer_768/1024", "rope/f32/avx512/32:8x128/4096",
                          "rope/f32/avx512/32:8x128,keys_rotated/4096"})
    names.insert(row);
  return names;
}
} // namespace

TEST_CASE("--list names every work once") {
  const bench_outcome outcome = run_bench("--list");
  REQUIRE(outcome.status == 0);
  std::set<std::string> names;
  std::istringstream lines(outcome.text);
  for (std::string line; std::getline(lines, line);) CHECK(names.insert(line.substr(0, line.find(' '))).second);
  CHECK(names == expected_names());
}

TEST_CASE("A run writes its rows as JSON and as a table") {
  const auto file = new_file("row.json");
  const bench_outcome outcome = run_bench("--peers none --rounds 3 --filter '^prefill/f32/avx2/12x64/512$' --json " + word(file));
  INFO(outcome.text);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.text.find("prefill/f32/avx2/12x64/512") != std::string::npos);
  const nlohmann::json j = read_json(file);
  CHECK(j.at("not_run").empty());
  const nlohmann::json &machine = j.at("machine");
  CHECK(machine.at("cores").get<int>() > 0);
  CHECK(!machine.at("cpu").get<std::string>().empty());
  CHECK(machine.at("versions").at("halide") == "21.0.0");
  CHECK(machine.at("load_before").size() == 3);
  REQUIRE(j.at("rows").size() == 1);
  const nlohmann::json &row = j.at("rows")[0];
  CHECK(row.at("work") == "prefill/f32/avx2/12x64/512");
  CHECK(row.at("target") == "avx2");
  CHECK(row.at("threads") == 1);
  CHECK(row.at("unit") == "GFLOP/s");
  CHECK(row.at("rounds") == 3);
  CHECK(row.at("seconds").at("attune").size() == 3);
  CHECK(row.at("operations") == 4.0 * 512 * 512 * 64 * 12);
  CHECK(row.at("value").get<double>() / row.at("peak").get<double>() == Approx(row.at("of_peak").get<double>()));
  CHECK(row.at("probe_beside").size() == 3);
  CHECK(row.at("of_probe_beside").get<double>() >= row.at("of_peak").get<double>()); // no probe is above the highest
  CHECK(row.at("peers").empty());
  CHECK(row.at("error_in_bounds").get<double>() <= 1);
  CHECK(row.at("scratch_bytes").get<int>() > 0);
  CHECK(row.at("spread").get<double>() >= 0);
  REQUIRE(row.at("kept_disturbed").is_array());
  for (const auto &round : row.at("kept_disturbed")) CHECK((round >= 0 && round < 3));
}

TEST_CASE("Numbers at the call are timed beside the same numbers in the spec") {
  const auto file = new_file("run_time.json");
  const bench_outcome outcome = run_bench("--peers none --rounds 3 --filter '^run_time/f32/avx512/12x64/1024$' --json " + word(file));
  INFO(outcome.text);
  REQUIRE(outcome.status == 0);
  const nlohmann::json j = read_json(file);
  if (j.at("rows").empty()) return; // no AVX-512 here
  const nlohmann::json &row = j.at("rows")[0];
  CHECK(row.at("peers").empty());
  REQUIRE(row.at("seconds").at("attune, numbers in the spec").size() == 3);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < 3; ++i) ratios.push_back(row.at("seconds").at("attune")[i].get<double>() / row.at("seconds").at("attune, numbers in the spec")[i].get<double>());
  std::sort(ratios.begin(), ratios.end());
  CHECK(row.at("over_fixed").get<double>() == Approx(ratios[1]));
  CHECK(outcome.text.find("of the time of the same operator with its numbers in the spec") != std::string::npos);
  CHECK(row.at("operations") == 4.0 * 1024 * 1025 / 2 * 64 * 12);
}

TEST_CASE("Masked pairs are no work") {
  const auto file = new_file("causal.json");
  const bench_outcome outcome = run_bench("--peers none --rounds 1 --threads 1 --filter '^causal/f32/avx512/12x64/512$' --json " + word(file));
  INFO(outcome.text);
  REQUIRE(outcome.status == 0);
  const nlohmann::json j = read_json(file);
  if (j.at("rows").empty()) {
    CHECK(j.at("not_run").size() == 1); // this machine has no AVX-512, and that is said
    return;
  }
  CHECK(j.at("rows")[0].at("operations") == 4.0 * 512 * 513 / 2 * 64 * 12);
}

TEST_CASE("What cannot be meant is refused, and nothing is written") {
  const auto file = new_file("refused.json");
  for (const auto &[arguments, sentence] : std::initializer_list<std::pair<std::string, std::string>>{
           {"--filter prefil1", "no work matches --filter \"prefil1\""},
           {"--filter '^prefill/f32/avx2/12x64/512$' --peers pytroch", "there is no peer \"pytroch\"; peers are onnxruntime, openvino"},
           {"--rounds 0", "--rounds"},
           {"--filter '(' --list", "--filter"}}) {
    const bench_outcome outcome = run_bench(arguments + " --json " + word(file));
    INFO(arguments << ": " << outcome.text);
    CHECK(outcome.status == 2);
    CHECK(outcome.text.find(sentence) != std::string::npos);
    CHECK(!std::filesystem::exists(file));
  }
}

TEST_CASE("A file that cannot be written is refused before anything is timed") {
  const bench_outcome outcome = run_bench("--filter '^prefill/f32/avx2/12x64/512$' --peers none --json " + word(FOLDER));
  INFO(outcome.text);
  CHECK(outcome.status == 2);
  CHECK(outcome.text.find("no file can be written there") != std::string::npos);
  CHECK(outcome.text.find("[1/") == std::string::npos);
}

TEST_CASE("Without its program beside it, the tool says what to build") {
  const std::filesystem::path folder = std::filesystem::path(FOLDER) / "build" / "bin";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(ATTUNE_TOOL, folder / "attune", std::filesystem::copy_options::overwrite_existing);
  const bench_outcome outcome = run_bench("--list", (folder / "attune").string());
  INFO(outcome.text);
  CHECK(outcome.status == 2);
  CHECK(outcome.text.find("bin/attune_bench, and it could not be started: No such file or directory. \"cmake --build " + folder.parent_path().string() + " --target attune_bench\" makes it.") != std::string::npos);
}

TEST_CASE("An interruption leaves the complete rows") {
  const auto file = new_file("interrupted.json");
  const std::string path = file.string(); // written after the first of three rows; the third takes many times as long
  const char *const arguments[] = {ATTUNE_TOOL, "bench", "--peers", "none", "--rounds", "30", "--filter", "^prefill/f32/avx2/12x64/", "--json", path.c_str(), nullptr};
  pid_t process = -1;
  REQUIRE(posix_spawn(&process, ATTUNE_TOOL, nullptr, nullptr, const_cast<char *const *>(arguments), environ) == 0);
  int ended = 0;
  while (!std::filesystem::exists(file) && waitpid(process, &ended, WNOHANG) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  REQUIRE(std::filesystem::exists(file));
  REQUIRE(kill(process, SIGINT) == 0);
  waitpid(process, &ended, 0);
  REQUIRE(WIFEXITED(ended));
  CHECK(WEXITSTATUS(ended) == 130);
  const nlohmann::json j = read_json(file);
  CHECK(j.at("rows").size() >= 1);
  CHECK(j.at("rows").size() < 3);
  CHECK(j.at("rows")[0].at("rounds") == 30);
}

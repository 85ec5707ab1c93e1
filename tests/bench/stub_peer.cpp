// A peer that does what its folder is called: "right" computes attention, the others fail, each in its own way.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <unistd.h>
#include <vector>

namespace {
using json = nlohmann::json;

std::vector<float> read(const std::filesystem::path &file) {
  std::vector<float> values(std::filesystem::file_size(file) / sizeof(float));
  std::ifstream(file, std::ios::binary).read(reinterpret_cast<char *>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

/// One query against all keys: keys and values [key, feature], of one head.
void attend(const float *query, const float *keys, const float *values, std::size_t count, std::size_t dim, float *output) {
  std::vector<float> weights(count);
  float sum = 0;
  for (std::size_t k = 0; k < count; ++k) {
    float score = 0;
    for (std::size_t d = 0; d < dim; ++d) score += query[d] * keys[k * dim + d];
    sum += weights[k] = std::exp(score / std::sqrt(static_cast<float>(dim)));
  }
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t d = 0; d < dim; ++d) output[d] += weights[k] / sum * values[k * dim + d];
}

std::vector<float> attention(const json &work) {
  const std::filesystem::path folder = work.at("folder").get<std::string>();
  const std::vector<float> query = read(folder / "query.bin"), key = read(folder / "key.bin"), value = read(folder / "value.bin");
  const std::size_t dim = work.at("head_dim"), queries = work.at("queries"), keys = work.at("keys");
  std::vector<float> output(query.size());
  for (std::size_t row = 0; row < query.size() / dim; ++row) {
    const std::size_t head = row / queries * keys * dim;
    attend(&query[row * dim], &key[head], &value[head], keys, dim, &output[row * dim]);
  }
  return output;
}

void reply(const json &j) { std::cout << j.dump() << std::endl; }
} // namespace

int main(int, char **argv) {
  const std::string does = std::filesystem::path(argv[0]).parent_path().filename().string();
  std::vector<float> output;
  int runs = 0;
  for (std::string line; std::getline(std::cin, line);) {
    const json request = json::parse(line);
    if (request.contains("prepare")) {
      if (does == "dies_at_once") {
        std::cerr << "out of luck" << std::endl;
        return 1;
      }
      if (does == "babbles") {
        std::cout << "Loading model ..." << std::endl;
        continue;
      }
      if (does == "hangs") sleep(3600);
      if (does == "declines") {
        reply({{"version", "stub 1"}, {"ways", json::array()}, {"left_out", {{"only way", "it is a stub"}}}});
        continue;
      }
      if (request["prepare"].at("copies").get<int>() != 1) return 1; // its works are not cold
      output = attention(request["prepare"]);
      if (does == "is_wrong") output[output.size() / 2] += 1e-3f;
      if (does == "is_nan") output[7] = std::nanf("");
      if (does == "is_short") output.pop_back();
      reply({{"version", "stub 1"}, {"ways", {"loops"}}, {"left_out", json::object()}});
    } else if (request.contains("run")) {
      if (does == "dies_later" && ++runs > 2) return 1;
      std::vector<double> nanoseconds(request["calls"].get<std::size_t>(), 5e6);
      if (does == "is_free") nanoseconds[0] = 0;
      reply({{"nanoseconds", nanoseconds}});
    } else {
      std::ofstream(request["file"].get<std::string>(), std::ios::binary).write(reinterpret_cast<const char *>(output.data()), static_cast<std::streamsize>(output.size() * sizeof(float)));
      reply({{"ok", true}});
    }
  }
}

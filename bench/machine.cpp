#include "bench/machine.hpp"
#include "HalideRuntime.h"
#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

namespace attune::bench {
namespace {

/// What stands behind "key :" in the first line of /proc/cpuinfo that begins with it.
std::string cpu_info(const std::string &key) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.compare(0, key.size(), key) == 0)
      if (const auto colon = line.find(':'); colon != line.npos) return line.substr(std::min(colon + 2, line.size()));
  return "unknown";
}

std::string first_line(const char *file) {
  std::ifstream in(file);
  std::string line;
  return std::getline(in, line) ? line : "unknown";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}
} // namespace

std::vector<double> load_now() {
  std::vector<double> load(3);
  load.resize(static_cast<std::size_t>(std::max(getloadavg(load.data(), 3), 0)));
  return load;
}

nlohmann::ordered_json describe_machine(const bench_run &run, const std::vector<double> &load_before) {
  utsname system{};
  uname(&system);
  nlohmann::ordered_json peaks;
  for (const auto &[key, value] : run.peaks) peaks[fmt::format("{}/t{}", name_of(key.first), key.second)] = {{"value", value}, {"unit", unit_of(key.first)}};
  return {{"cpu", cpu_info("model name")},
          {"family", cpu_info("cpu family")},
          {"model", cpu_info("model\t")},
          {"cores", std::thread::hardware_concurrency()},
          {"used_cores", usable_cores()},
          {"memory_gib", static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 30)},
          {"huge_pages", first_line("/sys/kernel/mm/transparent_hugepage/enabled")},
          {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
          {"date", today()},
          {"load_before", load_before},
          {"load_after", load_now()},
          {"versions", {{"attune", ATTUNE_VERSION},
                        {"halide", fmt::format("{}.{}.{}", HALIDE_VERSION_MAJOR, HALIDE_VERSION_MINOR, HALIDE_VERSION_PATCH)},
                        {"compiler", __VERSION__}}},
          {"peaks", peaks},
          {"peers", run.peers.versions()},
          {"peers_missing", run.peers.missing()}};
}

} // namespace attune::bench

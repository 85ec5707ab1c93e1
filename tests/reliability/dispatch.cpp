// Which target a call takes, and what it says when it cannot.
#include "fake_library.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/machine.hpp"
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

using namespace attune;
using Catch::Matchers::Contains;

namespace {
const artefact_info &plain() { return artefact<fake::plain>::info(); }
struct default_target {
  explicit default_target(target_id id) { set_default_target(id); }
  ~default_target() { set_default_target(std::nullopt); }
};
} // namespace

TEST_CASE("every target is reported, with what is missing where it cannot run") {
  const auto reports = targets(plain());
  REQUIRE(reports.size() == static_cast<std::size_t>(target_count));
  for (const target_report &r : reports) {
    CHECK(r.in_build == (r.target == target_id::avx2 || r.target == target_id::avx512 || r.target == target_id::neon || r.target == target_id::cuda_sm80));
    CHECK(r.why_not.empty() == r.runs_here);
    if (!r.runs_here) CHECK_THAT(r.why_not, Contains("this machine lacks "));
  }
  const std::string foreign = reports[static_cast<std::size_t>(fake::foreign_target())].why_not;
  CHECK((foreign == "this machine lacks an AArch64 CPU" || foreign == "this machine lacks an x86-64 CPU"));
  CHECK(machine_targets().size() == reports.size());
}

#if defined(__x86_64__)
std::set<std::string> words_of_cpuinfo() {
  std::ifstream file("/proc/cpuinfo");
  return {std::istream_iterator<std::string>(file), {}};
}

TEST_CASE("CPU features agree with the kernel's list") {
  const std::set<std::string> words = words_of_cpuinfo();
  const auto all = [&](std::initializer_list<const char *> names) {
    return std::all_of(names.begin(), names.end(), [&](const char *n) { return words.count(n) == 1; });
  };
  const bool avx2 = all({"avx2", "fma", "f16c"}), avx512 = avx2 && all({"avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"});
  CHECK(missing_for(target_id::avx2).empty() == avx2);
  CHECK(missing_for(target_id::avx512).empty() == avx512);
  const bool bf16 = avx512 && all({"avx512ifma", "avx512vbmi", "avx512_vbmi2", "avx512_vnni", "avx512_bitalg", "avx512_vpopcntdq", "avx512_bf16", "gfni"}), amd = all({"sse4a"});
  CHECK(missing_for(target_id::avx512_bf16).empty() == (bf16 && amd));
  if (bf16 && !amd) CHECK(missing_for(target_id::avx512_bf16) == "what only AMD's CPUs have (SSE4a); on an Intel CPU choose avx512_amx or avx512");
  CHECK(missing_for(target_id::avx512_amx).empty() ==
        (avx512 && all({"avx512ifma", "avx512vbmi", "avx512_vbmi2", "avx512_vnni", "avx512_bitalg", "avx512_vpopcntdq", "avx512_bf16", "avx512_fp16", "gfni", "amx_tile", "amx_bf16"})));
}

TEST_CASE("tiles that Linux refuses: the reason is not the CPU", "[.small_signal_stack]") {
  if (words_of_cpuinfo().count("amx_bf16") == 0) std::exit(77);
  static char small[8192]; // tiles alone take as much
  const stack_t stack{small, 0, sizeof small};
  REQUIRE(sigaltstack(&stack, nullptr) == 0);
  CHECK(missing_for(target_id::avx512_amx) == "Linux's permission to use AMX's tiles (arch_prctl)");
}
#endif

TEST_CASE("without a wish the best CPU target is taken, never a GPU") {
  const chosen_variant c = choose_variant(plain(), std::nullopt);
  REQUIRE(c.variant);
  CHECK(c.variant->target == fake::best_target());
}

TEST_CASE("a forced target is taken, or refused with the reason") {
  CHECK(choose_variant(plain(), fake::least_target()).variant->target == fake::least_target());
  const chosen_variant foreign = choose_variant(plain(), fake::foreign_target());
  CHECK_FALSE(foreign.variant);
  CHECK(foreign.why.code == error_code::unknown_target);
  CHECK_THAT(foreign.why.message(), Contains("fake::plain: target") && Contains("(from the call's options) cannot run here: this machine lacks an"));
  const chosen_variant absent = choose_variant(plain(), target_id::opencl);
  CHECK_FALSE(absent.variant);
  CHECK_THAT(absent.why.message(), Contains("target opencl (from the call's options) is not in this build. Its targets are: avx2, avx512, neon, cuda_sm80"));
}

TEST_CASE("the process's default stands behind the call's wish") {
  const default_target d(fake::least_target());
  CHECK(choose_variant(plain(), std::nullopt).variant->target == fake::least_target());
  CHECK(choose_variant(plain(), fake::best_target()).variant->target == fake::best_target());
  set_default_target(target_id::opencl);
  CHECK_THAT(choose_variant(plain(), std::nullopt).why.message(), Contains("(from set_default_target) is not in this build"));
}

TEST_CASE("no usable target: one sentence with what each needs") {
  const chosen_variant c = choose_variant(artefact<fake::elsewhere>::info(), std::nullopt);
  CHECK_FALSE(c.variant);
  CHECK(c.why.code == error_code::no_usable_target);
  CHECK_THAT(c.why.message(), Contains("fake::elsewhere: this machine can run none of the targets in this build: ") && Contains(" needs an ") &&
                                  Contains("cuda_sm80 needs an NVIDIA GPU of compute capability 8.0 or newer and its driver (libcuda.so.1) and must be asked for by name"));
}

TEST_CASE("ATTUNE_TARGET forces a target", "[.environment]") {
  const char *name = std::getenv("ATTUNE_TARGET");
  REQUIRE(name);
  const chosen_variant c = choose_variant(plain(), std::nullopt);
  if (const target_info *t = find_target(name); t && missing_for(t->id).empty()) {
    REQUIRE(c.variant);
    CHECK(c.variant->target == t->id);
  } else if (t) {
    CHECK_THAT(c.why.message(), Contains("(from ATTUNE_TARGET) cannot run here"));
  } else {
    CHECK_THAT(c.why.message(), Contains("ATTUNE_TARGET says \"" + std::string(name) + "\", which is no target"));
  }
  CHECK(choose_variant(plain(), fake::best_target()).variant->target == fake::best_target());
}

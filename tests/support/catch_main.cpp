// Runs the tests of a program on one target. Exit status 77 where the target cannot run here.
#define CATCH_CONFIG_RUNNER
#include "tests/support/target_under_test.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/library.hpp"
#include <cstdio>
#include <cstdlib>

namespace {
attune::target_id chosen;
}

namespace attune {
target_id target_under_test() { return chosen; }
} // namespace attune

int main(int argc, char **argv) {
  const char *name = std::getenv("ATTUNE_TEST_TARGET");
  const attune::target_info *target = attune::find_target(name ? name : "");
  if (!target) {
    std::fprintf(stderr, "ATTUNE_TEST_TARGET must name a target, such as avx2\n");
    return 1;
  }
  for (const attune::target_report &r : attune::machine_targets())
    if (r.target == target->id && !r.in_build && !attune::artefacts().empty()) { // a program without emitted kernels compiles its own
      std::fprintf(stderr, "%s is not in this build\n", target->name);
      return 1;
    } else if (r.target == target->id && !r.runs_here) {
      std::printf("not run: %s: %s\n", target->name, r.why_not.c_str());
      return 77;
    }
  chosen = target->id;
  return Catch::Session().run(argc, argv);
}

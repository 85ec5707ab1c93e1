// Links two libraries that hold the same spec, and calls both.
#include "tests/codegen/emission/two_libraries.hpp"
#include "runtime/library.hpp"
#include <cmath>
#include <cstdio>

namespace {
bool is_one(const char *what, float got) {
  const bool good = std::fabs(got - 1) < 1e-6f;
  if (!good) std::printf("%s: expected 1, got %g\n", what, static_cast<double>(got));
  return good;
}
} // namespace

int main() {
  const answers first = call_first(), second = call_second();
  const bool good = is_one("first library, spec in common", first.both) & is_one("first library, its own spec", first.own) &
                    is_one("second library, spec in common", second.both) & is_one("second library, its own spec", second.own);
  const auto held = attune::artefacts().size();
  if (held != 4) std::printf("expected 4 artefacts in the register, got %zu\n", held);
  return good && held == 4 ? 0 : 1;
}

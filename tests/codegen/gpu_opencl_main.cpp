// Runs the tests of a program that needs an OpenCL device. Exit status 77 where there is none: not run.
#define CATCH_CONFIG_RUNNER
#include "runtime/devices.hpp"
#include <catch2/catch.hpp>
#include <cstdio>

int main(int argc, char **argv) {
  if (const std::string missing = attune::missing_for_opencl(); !missing.empty()) {
    std::printf("not run: this machine has not %s\n", missing.c_str());
    return 77;
  }
  return Catch::Session().run(argc, argv);
}

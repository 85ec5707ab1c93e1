// Names of CPUs, by which tables are kept.
#include "runtime/cpu_name.hpp"
#include <catch2/catch.hpp>

using namespace attune;

TEST_CASE("x86 CPUs are named by core where it is known, else by family and model") {
  CHECK(x86_cpu_name("AuthenticAMD", 0x17, 0x01) == "amd-zen1");
  CHECK(x86_cpu_name("AuthenticAMD", 0x17, 0x31) == "amd-zen2");
  CHECK(x86_cpu_name("AuthenticAMD", 0x19, 0x01) == "amd-zen3");
  CHECK(x86_cpu_name("AuthenticAMD", 0x19, 0x11) == "amd-zen4"); // EPYC 9004
  CHECK(x86_cpu_name("AuthenticAMD", 0x19, 0x50) == "amd-zen3");
  CHECK(x86_cpu_name("AuthenticAMD", 0x19, 0x61) == "amd-zen4"); // Ryzen 7000
  CHECK(x86_cpu_name("AuthenticAMD", 0x1a, 0x02) == "amd-zen5");
  CHECK(x86_cpu_name("GenuineIntel", 6, 106) == "intel-family-6-model-106"); // Ice Lake
  CHECK(x86_cpu_name("HygonGenuine", 24, 1) == "x86-family-24-model-1");
}

TEST_CASE("Intel's server cores are named by what they can do, whatever their model number") {
  for (const unsigned model : {143u, 207u, 167u}) // Sapphire Rapids, Emerald Rapids, one that a virtual machine made up
    CHECK(x86_cpu_name("GenuineIntel", 6, model, {true, false}) == "intel-sapphire-rapids");
  for (const unsigned model : {173u, 174u, 167u}) // Granite Rapids, Granite Rapids D, made up
    CHECK(x86_cpu_name("GenuineIntel", 6, model, {true, true}) == "intel-granite-rapids");
  CHECK(x86_cpu_name("GenuineIntel", 6, 143, {false, false}) == "intel-family-6-model-143"); // its tiles are masked, too
  CHECK(x86_cpu_name("GenuineIntel", 6, 167, {false, true}) == "intel-family-6-model-167");
  CHECK(x86_cpu_name("GenuineIntel", 19, 1, {true, true}) == "intel-family-19-model-1"); // Diamond Rapids
  CHECK(x86_cpu_name("AuthenticAMD", 0x1a, 0x02, {true, true}) == "amd-zen5");
}

TEST_CASE("this machine's CPU has a name that is a file name") {
  const std::string name = cpu_name();
  CHECK(!name.empty());
  CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
}

// The CPU of this machine by a name that is stable and readable: tables of tuned schedules are kept by it. C++17.
#pragma once
#include <string>
#if defined(__x86_64__)
#include <cpuid.h>
#include <cstring>
#else
#include <fstream>
#endif

namespace attune {

/// What tells Intel's server cores apart where a virtual machine masks the model number. Of CPUID alone: what a core is does not
/// depend on whether the system lets a process use its tiles.
struct x86_features {
  bool amx_tile = false; ///< leaf 7, subleaf 0, EDX bit 24
  bool amx_fp16 = false; ///< leaf 7, subleaf 1, EAX bit 21
};

/// The name of an x86 CPU: "amd-zen4" where the core's name is known, "intel-family-6-model-106" otherwise. AMD's cores by
/// family and model: Zen to Zen 5 as in the processor programming references (17h, 19h, 1Ah). Intel's server cores by what they
/// can do; Emerald Rapids has the core of Sapphire Rapids and bears its name.
inline std::string x86_cpu_name(const std::string &vendor, unsigned family, unsigned model, const x86_features &has = {}) {
  const std::string maker = vendor == "AuthenticAMD" ? "amd" : vendor == "GenuineIntel" ? "intel" : "x86";
  if (maker == "amd") {
    if (family == 0x17) return model < 0x30 ? "amd-zen1" : "amd-zen2";
    if (family == 0x19) return (model >= 0x10 && model <= 0x1f) || model >= 0x60 ? "amd-zen4" : "amd-zen3";
    if (family == 0x1a) return "amd-zen5";
  }
  if (maker == "intel" && family == 6 && has.amx_tile) return has.amx_fp16 ? "intel-granite-rapids" : "intel-sapphire-rapids";
  return maker + "-family-" + std::to_string(family) + "-model-" + std::to_string(model);
}

#if defined(__x86_64__)
inline std::string cpu_name() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(0, &a, &b, &c, &d)) return x86_cpu_name("", 0, 0);
  char vendor[13] = {};
  std::memcpy(vendor, &b, 4);
  std::memcpy(vendor + 4, &d, 4);
  std::memcpy(vendor + 8, &c, 4);
  __get_cpuid(1, &a, &b, &c, &d);
  const unsigned base_family = (a >> 8) & 15, base_model = (a >> 4) & 15;
  const unsigned family = base_family == 15 ? base_family + ((a >> 20) & 255) : base_family;
  const unsigned model = base_family == 15 || base_family == 6 ? base_model + ((a >> 12) & 0xf0) : base_model;
  x86_features has;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) has.amx_tile = (d >> 24) & 1;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d)) has.amx_fp16 = (a >> 21) & 1;
  return x86_cpu_name(vendor, family, model, has);
}
#else
/// By the identification register, where Linux shows it: implementer (bits 31:24) and part (15:4), in hexadecimal.
inline std::string cpu_name() {
  std::string midr; // "0x00000000413fd0c1"
  std::ifstream("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1") >> midr;
  return midr.size() == 18 ? "arm-implementer-" + midr.substr(10, 2) + "-part-" + midr.substr(14, 3) : "arm-unknown";
}
#endif

} // namespace attune

// CPU detection of our own: Halide 21's answers "yes" for features that it does not know, and never asks the operating system.
#include "runtime/machine.hpp"
#include "runtime/devices.hpp"
#include <cstdint>
#include <initializer_list>
#include <vector>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace attune {
namespace {

struct feature {
  const char *name;
  bool present;
};

std::string listed(const std::vector<std::string> &words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

std::string absent(std::initializer_list<feature> features) {
  std::vector<std::string> names;
  for (const feature &f : features)
    if (!f.present) names.emplace_back(f.name);
  return listed(names);
}

#if defined(__x86_64__)
constexpr architecture own_architecture = architecture::x86_64;

struct registers {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
};
registers cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
  registers r;
  if (!__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d)) return {};
  return r;
}
/// XCR0: which register files the operating system saves. Only readable where CPUID says OSXSAVE.
std::uint32_t saved_state(bool osxsave) {
  if (!osxsave) return 0;
  std::uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}
constexpr bool bit(std::uint32_t word, int i) { return (word >> i) & 1u; }

/// Linux keeps tiles for a process that asks for them, for all its threads (since 5.16; its documentation of x86's xstate).
bool may_use_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

std::string missing_on_cpu(target_id id) {
  const registers one = cpuid(1, 0), extended = cpuid(0x80000001u, 0), seven = cpuid(7, 0), seven_one = cpuid(7, 1);
  const std::uint32_t saved = saved_state(bit(one.c, 27));
  const bool sse4a = bit(extended.c, 6);
  const bool ymm = (saved & 0x6u) == 0x6u, zmm = (saved & 0xe6u) == 0xe6u; // SSE, AVX; opmask, ZMM 0-15, ZMM 16-31
  const auto in_ymm = [&](bool b) { return b && ymm; };
  const auto in_zmm = [&](bool b) { return b && zmm; };
  const feature avx2{"AVX2", in_ymm(bit(one.c, 28) && bit(seven.b, 5))}, fma{"FMA", in_ymm(bit(one.c, 12))}, f16c{"F16C", in_ymm(bit(one.c, 29))};
  const feature f{"AVX-512 F", in_zmm(bit(seven.b, 16))}, dq{"AVX-512 DQ", in_zmm(bit(seven.b, 17))}, cd{"AVX-512 CD", in_zmm(bit(seven.b, 28))},
      bw{"AVX-512 BW", in_zmm(bit(seven.b, 30))}, vl{"AVX-512 VL", in_zmm(bit(seven.b, 31))}, ifma{"AVX-512 IFMA", in_zmm(bit(seven.b, 21))},
      vbmi{"AVX-512 VBMI", in_zmm(bit(seven.c, 1))}, vbmi2{"AVX-512 VBMI2", in_zmm(bit(seven.c, 6))}, vnni{"AVX-512 VNNI", in_zmm(bit(seven.c, 11))},
      bitalg{"AVX-512 BITALG", in_zmm(bit(seven.c, 12))}, vpopcntdq{"AVX-512 VPOPCNTDQ", in_zmm(bit(seven.c, 14))},
      bf16{"AVX-512 BF16", in_zmm(bit(seven_one.a, 5))}, gfni{"GFNI", bit(seven.c, 8)}, fp16{"AVX-512 FP16", in_zmm(bit(seven.d, 23))};
  switch (id) {
    case target_id::avx512: return absent({avx2, fma, f16c, f, cd, vl, dq, bw});
    case target_id::avx512_bf16: {
      const std::string vectors = absent({avx2, fma, f16c, f, cd, vl, dq, bw, ifma, vbmi, vbmi2, vnni, bitalg, vpopcntdq, bf16, gfni});
      return vectors.empty() ? absent({{"what only AMD's CPUs have (SSE4a); on an Intel CPU choose avx512_amx or avx512", sse4a}}) : vectors;
    }
    case target_id::avx512_amx: {
      const std::string vectors = absent({avx2, fma, f16c, f, cd, vl, dq, bw, ifma, vbmi, vbmi2, vnni, bitalg, vpopcntdq, bf16, gfni, fp16});
      const bool tiles = bit(seven.d, 24) && bit(seven.d, 22) && (saved & 0x60000u) == 0x60000u; // AMX-TILE, AMX-BF16; tile configuration and data
      if (!vectors.empty()) return vectors;
      return absent({{"AMX's tiles of bf16", tiles}, {"Linux's permission to use AMX's tiles (arch_prctl)", !tiles || may_use_tiles()}});
    }
    default: return absent({avx2, fma, f16c}); // the host code of a GPU target too
  }
}
#elif defined(__aarch64__)
constexpr architecture own_architecture = architecture::aarch64;

std::string missing_on_cpu(target_id id) {
  const unsigned long hwcap = getauxval(AT_HWCAP); // bits as in Linux's arch/arm64 hwcap.h
  const auto bit = [&](int i) { return ((hwcap >> i) & 1ul) != 0; };
  const feature simd{"Advanced SIMD", bit(1)}, half{"FP16 arithmetic (FPHP and ASIMDHP)", bit(9) && bit(10)}, dot{"dot product (ASIMDDP)", bit(20)};
  return id == target_id::neon_fp16 ? absent({simd, half, dot}) : absent({simd});
}
#else
#error "Attune runs on x86-64 and AArch64"
#endif

std::string find_missing(const target_info &t) {
  if (t.host != own_architecture) return t.host == architecture::x86_64 ? "an x86-64 CPU" : "an AArch64 CPU";
  std::string cpu = missing_on_cpu(t.id);
  if (!cpu.empty()) return cpu;
  if (t.device == device_kind::cuda) return missing_for_cuda(8, 0);
  if (t.device == device_kind::opencl) return missing_for_opencl();
  return {};
}

template <target_id Id> const std::string &missing_once() {
  static const std::string *const missing = new std::string(find_missing(info_of(Id))); // never destroyed: calls may come late
  return *missing;
}

} // namespace

const std::string &missing_for(target_id id) {
  switch (id) { // one static each, so that asking for a CPU never loads a GPU's driver
    case target_id::avx2: return missing_once<target_id::avx2>();
    case target_id::avx512: return missing_once<target_id::avx512>();
    case target_id::avx512_bf16: return missing_once<target_id::avx512_bf16>();
    case target_id::avx512_amx: return missing_once<target_id::avx512_amx>();
    case target_id::neon: return missing_once<target_id::neon>();
    case target_id::neon_fp16: return missing_once<target_id::neon_fp16>();
    case target_id::cuda_sm80: return missing_once<target_id::cuda_sm80>();
    case target_id::opencl: return missing_once<target_id::opencl>();
  }
  return missing_once<target_id::opencl>();
}

} // namespace attune

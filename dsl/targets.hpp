// The one table of targets: name, exact Halide target, what a machine must have to run it. C++17, no Halide.
#pragma once
#include <string_view>

namespace attune {

enum class target_id { avx2, avx512, avx512_bf16, avx512_amx, neon, neon_fp16, cuda_sm80, opencl };
enum class architecture { x86_64, aarch64 };
enum class device_kind { cpu, cuda, opencl };

struct target_info {
  target_id id;
  const char *name;
  const char *halide_target;   ///< as passed to Halide, before the features that every target of ours has
  architecture host;           ///< what the object file is for
  device_kind device;
  int vector_bytes;            ///< natural vector of the CPU; 0 on a device
  int vector_registers;
  bool dot_bf16;               ///< multiplies pairs of bf16 and adds them to f32 in one instruction (vdpbf16ps), as fast as f32
  bool tile_bf16;              ///< does so with tiles of 16 x 16 x 16 pairs (tdpbf16ps)
  const char *needs;           ///< in words, for people
};

/// In order of preference: the first usable target of a host is chosen from the end of its CPU entries backwards.
inline constexpr target_info all_targets[] = {
    {target_id::avx2, "avx2", "x86-64-linux-avx2-avx-fma-f16c-sse41", architecture::x86_64, device_kind::cpu, 32, 16, false, false,
     "an x86-64 CPU with AVX2, FMA and F16C"},
    {target_id::avx512, "avx512", "x86-64-linux-avx512_skylake-avx512-avx2-avx-fma-f16c-sse41", architecture::x86_64, device_kind::cpu, 64, 32, false, false,
     "an x86-64 CPU with AVX-512 F, CD, VL, DQ and BW"},
    {target_id::avx512_bf16, "avx512_bf16", "x86-64-linux-avx512_zen4-avx512_cannonlake-avx512_skylake-avx512-avx2-avx-fma-f16c-sse41",
     architecture::x86_64, device_kind::cpu, 64, 32, true, false,
     "an AMD CPU, Zen 4 or newer: AVX-512 F, CD, VL, DQ, BW, IFMA, VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ and BF16, and SSE4a"},
    // vdpbf16ps is half as fast as FMA on these CPUs (Granite Rapids: 108 and 217 GFLOP/s), so only tiles multiply bf16 as it is.
    {target_id::avx512_amx, "avx512_amx", "x86-64-linux-avx512_sapphirerapids-avx512_zen4-avx512_cannonlake-avx512_skylake-avx512-avx2-avx-fma-f16c-sse41",
     architecture::x86_64, device_kind::cpu, 64, 32, false, true,
     "an x86-64 CPU with AVX-512 F, CD, VL, DQ, BW, IFMA, VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ, BF16 and FP16, and AMX's tiles of bf16, which the system lets programs use"},
    {target_id::neon, "neon", "arm-64-linux", architecture::aarch64, device_kind::cpu, 16, 32, false, false, "an AArch64 CPU with Advanced SIMD"},
    {target_id::neon_fp16, "neon_fp16", "arm-64-linux-arm_dot_prod-arm_fp16", architecture::aarch64, device_kind::cpu, 16, 32, false, false,
     "an AArch64 CPU with Advanced SIMD, FP16 arithmetic and dot product"},
    {target_id::cuda_sm80, "cuda_sm80", "x86-64-linux-avx2-avx-fma-f16c-sse41-cuda-cuda_capability_80", architecture::x86_64, device_kind::cuda, 0, 0, false, false,
     "an NVIDIA GPU of compute capability 8.0 or newer and its driver (libcuda.so.1)"},
    {target_id::opencl, "opencl", "x86-64-linux-avx2-avx-fma-f16c-sse41-opencl", architecture::x86_64, device_kind::opencl, 0, 0, false, false,
     "an OpenCL 1.2 device (libOpenCL.so); made for checks, not for speed"},
};
inline constexpr int target_count = static_cast<int>(sizeof all_targets / sizeof all_targets[0]);

constexpr const target_info &info_of(target_id id) { return all_targets[static_cast<int>(id)]; }
constexpr const target_info *find_target(std::string_view name) {
  for (const target_info &t : all_targets)
    if (name == t.name) return &t;
  return nullptr;
}

} // namespace attune

#include "runtime/devices.hpp"
#include <dlfcn.h>
#include <cstdint>

namespace attune {
namespace {

template <class Function> Function *symbol(void *library, const char *name) { return reinterpret_cast<Function *>(dlsym(library, name)); }

/// Stays open: generated code uses the same driver.
void *open_first(const char *name, const char *other) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  return library ? library : dlopen(other, RTLD_NOW | RTLD_LOCAL);
}

} // namespace

std::string missing_for_cuda(int major, int minor) {
  void *driver = open_first("libcuda.so.1", "libcuda.so");
  if (!driver) return "the NVIDIA driver (libcuda.so.1)";
  const auto init = symbol<int(unsigned)>(driver, "cuInit");
  const auto count = symbol<int(int *)>(driver, "cuDeviceGetCount");
  const auto attribute = symbol<int(int *, int, int)>(driver, "cuDeviceGetAttribute");
  if (!init || !count || !attribute) return "a libcuda.so.1 with cuInit, cuDeviceGetCount and cuDeviceGetAttribute";
  int devices = 0;
  if (init(0) != 0 || count(&devices) != 0 || devices == 0) return "an NVIDIA GPU (the driver is there, but shows no device)";
  constexpr int capability_major = 75, capability_minor = 76; // CUdevice_attribute
  for (int device = 0; device < devices; ++device) {
    int has_major = 0, has_minor = 0;
    if (attribute(&has_major, capability_major, device) != 0 || attribute(&has_minor, capability_minor, device) != 0) continue;
    if (has_major > major || (has_major == major && has_minor >= minor)) return {};
  }
  return "an NVIDIA GPU of compute capability " + std::to_string(major) + "." + std::to_string(minor) + " or newer";
}

std::string missing_for_opencl() {
  void *loader = open_first("libOpenCL.so.1", "libOpenCL.so");
  if (!loader) return "OpenCL (libOpenCL.so)";
  const auto platforms = symbol<std::int32_t(std::uint32_t, void **, std::uint32_t *)>(loader, "clGetPlatformIDs");
  const auto devices = symbol<std::int32_t(void *, std::uint64_t, std::uint32_t, void **, std::uint32_t *)>(loader, "clGetDeviceIDs");
  if (!platforms || !devices) return "a libOpenCL.so with clGetPlatformIDs and clGetDeviceIDs";
  void *found[16] = {};
  std::uint32_t count = 0;
  if (platforms(16, found, &count) != 0) count = 0;
  constexpr std::uint64_t any_device = 0xffffffffu; // CL_DEVICE_TYPE_ALL
  for (std::uint32_t i = 0; i < count && i < 16; ++i) {
    std::uint32_t here = 0;
    if (devices(found[i], any_device, 0, nullptr, &here) == 0 && here > 0) return {};
  }
  return "an OpenCL device (the loader is there, but shows none)";
}

} // namespace attune

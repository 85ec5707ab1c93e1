#include "tests/codegen/gpu_stand_in_cuda.hpp"
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {
stand_in_record record;
using device_pointer = std::uint64_t;
using result = int;
constexpr result success = 0, invalid_value = 1, not_supported = 801;
int a_context, a_module;

result copy_in(device_pointer to, const void *from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  record.bytes_to_device += static_cast<long long>(bytes);
  return success;
}
result copy_out(void *to, device_pointer from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  record.bytes_from_device += static_cast<long long>(bytes);
  return success;
}
result load(void **module, const void *image) {
  ++record.modules;
  std::strncpy(record.module_head, static_cast<const char *>(image), sizeof record.module_head - 1);
  *module = &a_module;
  return success;
}
} // namespace

extern "C" {
stand_in_record *attune_stand_in_record() { return &record; }

result cuInit(unsigned) { return success; }
result cuDeviceGetCount(int *count) { return *count = 1, success; }
result cuDeviceGet(int *device, int) { return *device = 0, success; }
result cuDeviceGetName(char *name, int size, int) { return std::strncpy(name, "stand-in", static_cast<std::size_t>(size)), success; }
result cuDeviceTotalMem_v2(std::size_t *bytes, int) { return *bytes = std::size_t{1} << 33, success; }
result cuDeviceGetAttribute(int *value, int attribute, int) {
  constexpr int capability_major = 75, capability_minor = 76, shared_bytes_per_block = 8;
  *value = attribute == capability_major ? 8 : attribute == capability_minor ? 0 : attribute == shared_bytes_per_block ? 48 * 1024 : 1;
  return success;
}

result cuCtxCreate_v2(void **context, unsigned, int) { return *context = &a_context, success; }
result cuCtxDestroy_v2(void *) { return success; }
result cuCtxGetApiVersion(void *, unsigned *version) { return *version = 12000, success; }
result cuCtxGetDevice(int *device) { return *device = 0, success; }
result cuCtxPushCurrent_v2(void *) { return success; }
result cuCtxPopCurrent_v2(void **context) { return *context = &a_context, success; }
result cuCtxSynchronize() { return success; }
result cuStreamSynchronize(void *) { return success; }
result cuProfilerStop() { return success; }

result cuModuleLoadData(void **module, const void *image) { return load(module, image); }
result cuModuleLoadDataEx(void **module, const void *image, unsigned, void *, void **) { return load(module, image); }
result cuModuleUnload(void *) { return success; }
result cuModuleGetFunction(void **function, void *module, const char *) { return *function = module, success; }
result cuFuncSetAttribute(void *, int, int) { return success; }

result cuMemAlloc_v2(device_pointer *pointer, std::size_t bytes) {
  if (bytes == 0) return invalid_value;
  *pointer = reinterpret_cast<device_pointer>(std::calloc(bytes, 1));
  ++record.allocations_alive;
  return success;
}
result cuMemFree_v2(device_pointer pointer) {
  std::free(reinterpret_cast<void *>(pointer));
  --record.allocations_alive;
  return success;
}
result cuMemcpyHtoD_v2(device_pointer to, const void *from, std::size_t bytes) { return copy_in(to, from, bytes); }
result cuMemcpyDtoH_v2(void *to, device_pointer from, std::size_t bytes) { return copy_out(to, from, bytes); }
result cuMemcpyHtoDAsync_v2(device_pointer to, const void *from, std::size_t bytes, void *) { return copy_in(to, from, bytes); }
result cuMemcpyDtoHAsync_v2(void *to, device_pointer from, std::size_t bytes, void *) { return copy_out(to, from, bytes); }
result cuMemcpyDtoD_v2(device_pointer to, device_pointer from, std::size_t bytes) {
  return std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes), success;
}
result cuMemcpyDtoDAsync_v2(device_pointer to, device_pointer from, std::size_t bytes, void *) { return cuMemcpyDtoD_v2(to, from, bytes); }
result cuMemcpy3D_v2(const void *) { return not_supported; }
result cuMemcpy3DAsync_v2(const void *, void *) { return not_supported; }
result cuPointerGetAttribute(void *, int, device_pointer) { return invalid_value; }

result cuLaunchKernel(void *, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes, void *, void **, void **) {
  if (gx == 0 || gy == 0 || gz == 0 || gy > 65535 || gz > 65535 || bx * by * bz > 1024 || shared_bytes > 48 * 1024) return invalid_value;
  ++record.launches;
  record.last = {{gx, gy, gz}, {bx, by, bz}, shared_bytes};
  return success;
}
}

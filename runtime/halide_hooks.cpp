// The hooks between an emitted library's own Halide runtime and Attune's. Compiled once into every emitted library, with
//   -DATTUNE_LIBRARY=<name>     which names the one symbol it exports: attune_install_hooks_<name>
//   -DATTUNE_LIBRARY_CUDA       if the library has a CUDA target: only then its Halide runtime has the CUDA part
// and linked (ld -r) with the library's kernels and its Halide runtime. The emitter then keeps as global only the kernels and
// this symbol, so that each library has a Halide runtime of its own. library_info::install_hooks points to it.
#include "HalideRuntime.h"
#include "runtime/call_context.hpp"
#include "runtime/memory.hpp"
#include "runtime/threads.hpp"
#include <dlfcn.h>
#include <atomic>
#include <cstdlib>
#include <cstring>
#ifdef __x86_64__
#include "runtime/tile_products.hpp"
#endif
#ifdef ATTUNE_LIBRARY_CUDA
#include "HalideRuntimeCuda.h"
#endif

#define ATTUNE_JOIN_AGAIN(head, name) head##name
#define ATTUNE_JOIN(head, name) ATTUNE_JOIN_AGAIN(head, name)

namespace {

attune::call_context *context_of(void *user_context) { return static_cast<attune::call_context *>(user_context); }

/// Keeps the first error of a call: what follows is its echo. Tasks may fail on several threads at once.
void keep_error(void *user_context, const char *text) {
  attune::call_context *c = context_of(user_context);
  if (!c || c->error_code.exchange(1) != 0) return;
  std::strncpy(c->error_text, text, sizeof c->error_text - 1);
  for (std::size_t n = std::strlen(c->error_text); n > 0 && c->error_text[n - 1] == '\n'; --n) c->error_text[n - 1] = 0;
}
void print_nothing(void *, const char *) {}

void *allocate(void *user_context, size_t bytes) { return attune::workspace_allocate(context_of(user_context), bytes); }
void release(void *user_context, void *block) { attune::workspace_release(context_of(user_context), block); }

/// The iterations of one parallel loop. After a failure the rest is skipped.
struct loop {
  void *user_context;
  halide_task_t body;
  int first;
  std::uint8_t *closure;
  std::atomic<int> result{0};

  static void iteration(void *self, int i) {
    loop &l = *static_cast<loop *>(self);
    if (l.result.load(std::memory_order_relaxed) != 0) return;
    if (const int r = l.body(l.user_context, l.first + i, l.closure)) l.result = r;
  }
};
int run_loop(void *user_context, halide_task_t body, int first, int count, std::uint8_t *closure) {
  loop l{user_context, body, first, closure};
  attune::run_tasks(context_of(user_context), count, loop::iteration, &l);
  return l.result;
}

/// Machines with only a driver have libcuda.so.1 and libOpenCL.so.1, but not the names without a version.
void *load_library(const char *name) {
  char versioned[256] = {};
  std::strncpy(versioned, name, sizeof versioned - 3);
  std::strcat(versioned, ".1");
  void *library = dlopen(versioned, RTLD_LAZY | RTLD_LOCAL);
  return library ? library : dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

#ifdef ATTUNE_LIBRARY_CUDA
using launch_function = int(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared_bytes, void *stream, void **, void **);
std::atomic<launch_function *> real_launch{nullptr};
std::atomic<int (*)(void *function, int attribute, int value)> set_attribute{nullptr};

/// Halide never asks for more than the 48 KiB of shared memory that every kernel may have; larger tiles need to.
int launch(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes, void *stream, void **arguments, void **extra) {
  constexpr unsigned always_allowed = 48 * 1024;
  constexpr int max_dynamic_shared_size = 8; // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  if (shared_bytes > always_allowed && set_attribute.load())
    if (const int failed = set_attribute.load()(function, max_dynamic_shared_size, static_cast<int>(shared_bytes))) return failed;
  return real_launch.load()(function, gx, gy, gz, bx, by, bz, shared_bytes, stream, arguments, extra);
}

bool is_launch(const char *name) { return std::strcmp(name, "cuLaunchKernel") == 0; }

/// Halide looks among the loaded libraries first; the launch must come through get_library_symbol.
void *get_symbol(const char *name) { return is_launch(name) ? nullptr : halide_default_get_symbol(name); }

void *get_library_symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found || !is_launch(name)) return found;
  real_launch = reinterpret_cast<launch_function *>(found);
  set_attribute = reinterpret_cast<int (*)(void *, int, int)>(dlsym(library, "cuFuncSetAttribute"));
  return reinterpret_cast<void *>(&launch);
}

halide_cuda_acquire_context_t default_acquire = nullptr;
halide_cuda_get_stream_t default_stream = nullptr;

int acquire_context(void *user_context, void **cuda_context, bool create) {
  const attune::call_context *c = context_of(user_context);
  if (!c || !c->cuda_context) return default_acquire(user_context, cuda_context, create);
  *cuda_context = c->cuda_context;
  return 0;
}
int get_stream(void *user_context, void *cuda_context, void **stream) {
  const attune::call_context *c = context_of(user_context);
  if (!c || !c->cuda_stream) return default_stream(user_context, cuda_context, stream);
  *stream = c->cuda_stream;
  return 0;
}

void install_cuda() {
  default_acquire = halide_set_cuda_acquire_context(acquire_context);
  default_stream = halide_set_cuda_get_stream(get_stream);
  halide_set_custom_get_symbol(get_symbol);
  halide_set_custom_get_library_symbol(get_library_symbol);
  setenv("HL_CUDA_JIT_MAX_REGISTERS", "255", 0); // Halide's default of 64 makes attention kernels spill; the user's value stays
}
#else
void install_cuda() {}
#endif

} // namespace

extern "C" void ATTUNE_JOIN(attune_install_hooks_, ATTUNE_LIBRARY)();
extern "C" void ATTUNE_JOIN(attune_install_hooks_, ATTUNE_LIBRARY)() {
  halide_set_error_handler(keep_error);
  halide_set_custom_print(print_nothing);
  halide_set_custom_malloc(allocate);
  halide_set_custom_free(release);
  halide_set_custom_do_par_for(run_loop);
  halide_set_custom_load_library(load_library);
  install_cuda();
}

// The setters of a Halide runtime, which keep what they were given: so that the hooks are tested without generated code.
#pragma once
#include "HalideRuntime.h"
#include "HalideRuntimeCuda.h"

namespace fake {
struct hooks {
  halide_error_handler_t error = nullptr;
  halide_print_t print = nullptr;
  halide_malloc_t allocate = nullptr;
  halide_free_t release = nullptr;
  halide_do_par_for_t loop = nullptr;
  halide_load_library_t load_library = nullptr;
  halide_get_symbol_t get_symbol = nullptr;
  halide_get_library_symbol_t get_library_symbol = nullptr;
  halide_cuda_acquire_context_t acquire_context = nullptr;
  halide_cuda_get_stream_t get_stream = nullptr;
};
extern hooks installed;
} // namespace fake

extern "C" void attune_install_hooks_fake();

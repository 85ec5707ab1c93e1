#include "fake_halide_runtime.hpp"
#include <cstdint>

namespace fake {
hooks installed;
namespace {
int default_acquire(void *, void **context, bool) {
  *context = reinterpret_cast<void *>(std::intptr_t{0xd00});
  return 0;
}
int default_stream(void *, void *, void **stream) {
  *stream = nullptr;
  return 0;
}
} // namespace
} // namespace fake
using fake::installed;

extern "C" {
halide_error_handler_t halide_set_error_handler(halide_error_handler_t f) { return installed.error = f; }
halide_print_t halide_set_custom_print(halide_print_t f) { return installed.print = f; }
halide_malloc_t halide_set_custom_malloc(halide_malloc_t f) { return installed.allocate = f; }
halide_free_t halide_set_custom_free(halide_free_t f) { return installed.release = f; }
halide_do_par_for_t halide_set_custom_do_par_for(halide_do_par_for_t f) { return installed.loop = f; }
halide_load_library_t halide_set_custom_load_library(halide_load_library_t f) { return installed.load_library = f; }
halide_get_symbol_t halide_set_custom_get_symbol(halide_get_symbol_t f) { return installed.get_symbol = f; }
halide_get_library_symbol_t halide_set_custom_get_library_symbol(halide_get_library_symbol_t f) { return installed.get_library_symbol = f; }
void *halide_default_get_symbol(const char *) { return nullptr; }
halide_cuda_acquire_context_t halide_set_cuda_acquire_context(halide_cuda_acquire_context_t f) {
  installed.acquire_context = f;
  return fake::default_acquire;
}
halide_cuda_get_stream_t halide_set_cuda_get_stream(halide_cuda_get_stream_t f) {
  installed.get_stream = f;
  return fake::default_stream;
}
}

// What travels with one call through generated code as Halide's user context: error text, threads, memory, stream. C++17.
#pragma once
#include <atomic>
#include <cstddef>

namespace attune {

/// A host's own thread pool: run(self, count, task, argument) calls task(argument, i) once for each i < count, and returns
/// when all have ended. It may run them in any order and on any thread.
struct thread_pool {
  void *self = nullptr;
  void (*run)(void *self, int count, void (*task)(void *argument, int i), void *argument) = nullptr;
};

/// A host's own allocator: 64-byte aligned blocks. allocate returns null when there is no memory; release may be null, for
/// an arena. Both are called from every thread that runs tasks.
struct allocator {
  void *self = nullptr;
  void *(*allocate)(void *self, std::size_t bytes) = nullptr;
  void (*release)(void *self, void *block) = nullptr;
};

struct call_context {
  int threads = 0;             ///< at most this many; 0: as many as the machine has
  thread_pool pool;            ///< if set, used instead of Attune's own threads
  allocator memory;            ///< if set, used instead of the per-thread workspace
  void *cuda_context = nullptr; ///< CUcontext; null: Attune makes one
  void *cuda_stream = nullptr;  ///< CUstream; null: the default stream
  std::atomic<int> error_code{0}; ///< not 0 once error_text is taken: tasks may fail on several threads at once
  char error_text[512] = {};   ///< what generated code reported, if it did
};

} // namespace attune

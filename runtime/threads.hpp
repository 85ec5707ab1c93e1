// The threads behind generated code: one small pool per program, made when it is first needed. C++17.
//
// The number of threads of a call is call_options::threads; if that is 0, the environment variable ATTUNE_THREADS (read
// once); if that is not set or empty, the number of CPUs that the process may use.
#pragma once
#include "runtime/call.hpp"

namespace attune {

/// What a call with `threads = 0` uses. Where ATTUNE_THREADS is no such number, the number of CPUs; the call then fails.
int default_threads() noexcept;

/// Refuses a number of threads below 0, and ATTUNE_THREADS where the options leave the number to it and it is no whole number
/// from 1 on.
status check_threads(const char *spec, const call_options &) noexcept;

/// Calls task(argument, i) once for each i < count and returns when all have ended. Uses the context's pool if it has one,
/// else Attune's threads; the caller takes part. A call from inside a task runs in place. Tasks must not throw.
void run_tasks(const call_context *, int count, void (*task)(void *argument, int i), void *argument) noexcept;

} // namespace attune

// The memory behind generated code: one workspace per thread, kept from call to call. C++17.
#pragma once
#include "runtime/call_context.hpp"

namespace attune {

/// Bytes that the workspaces of all threads hold now, in use and kept for the next call.
std::size_t workspace_bytes() noexcept;
/// Gives back what the workspaces of all threads keep and do not use. Safe at any time.
void release_workspace() noexcept;
/// How many bytes each thread may keep between calls (64 MiB at first); more is given back when a call ends.
void set_workspace_limit(std::size_t bytes_per_thread) noexcept;

/// For generated code (runtime/halide_hooks.cpp): a 64-byte aligned block, readable for 64 bytes before and behind; null
/// when there is no memory.
void *workspace_allocate(const call_context *, std::size_t bytes) noexcept;
void workspace_release(const call_context *, void *block) noexcept;

} // namespace attune

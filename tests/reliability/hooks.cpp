// The hooks that join an emitted library's Halide runtime to Attune's.
#include "fake_halide_runtime.hpp"
#include "runtime/call_context.hpp"
#include "runtime/memory.hpp"
#include <catch2/catch.hpp>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

using namespace attune;
using fake::installed;

namespace {
struct hooked {
  call_context context;
  hooked() { attune_install_hooks_fake(); }
};
} // namespace

TEST_CASE_METHOD(hooked, "the first error of a call is kept, without its line end; nothing is printed") {
  installed.error(&context, "first\n");
  installed.error(&context, "second");
  CHECK(std::string(context.error_text) == "first");
  CHECK(context.error_code != 0);
  call_context other;
  installed.error(&other, std::string(2000, 'x').c_str());
  CHECK(std::strlen(other.error_text) == sizeof other.error_text - 1);
  installed.error(nullptr, "while a program ends");
  installed.print(&context, "not to be seen");
}

TEST_CASE_METHOD(hooked, "memory comes from the workspace") {
  void *block = installed.allocate(&context, 5000);
  REQUIRE(block);
  installed.release(&context, block);
  CHECK(installed.allocate(&context, 5000) == block);
  installed.release(&context, block);
}

TEST_CASE_METHOD(hooked, "a loop runs each iteration once, and stops after a failure") {
  struct closure_type {
    std::atomic<int> ran[100] = {};
    int failing = -1;
  } closure;
  const halide_task_t body = [](void *, int i, std::uint8_t *c) {
    closure_type &it = *reinterpret_cast<closure_type *>(c);
    ++it.ran[i - 40];
    return i == it.failing ? 17 : 0;
  };
  context.threads = 3;
  CHECK(installed.loop(&context, body, 40, 100, reinterpret_cast<std::uint8_t *>(&closure)) == 0);
  for (const std::atomic<int> &n : closure.ran) REQUIRE(n == 1);
  closure.failing = 45;
  context.threads = 1;
  CHECK(installed.loop(&context, body, 40, 100, reinterpret_cast<std::uint8_t *>(&closure)) == 17);
  CHECK(closure.ran[5] == 2);
  CHECK(closure.ran[6] == 1);
}

TEST_CASE_METHOD(hooked, "CUDA takes the caller's context and stream, or Halide's own") {
  void *got = nullptr;
  CHECK(installed.acquire_context(&context, &got, true) == 0);
  CHECK(got == reinterpret_cast<void *>(std::intptr_t{0xd00}));
  CHECK(installed.get_stream(&context, got, &got) == 0);
  CHECK(got == nullptr);
  int mine = 0, stream = 0;
  context.cuda_context = &mine;
  context.cuda_stream = &stream;
  CHECK(installed.acquire_context(&context, &got, true) == 0);
  CHECK(got == &mine);
  CHECK(installed.get_stream(&context, got, &got) == 0);
  CHECK(got == &stream);
  CHECK(installed.acquire_context(nullptr, &got, false) == 0);
  CHECK(std::getenv("HL_CUDA_JIT_MAX_REGISTERS") != nullptr);
}

TEST_CASE_METHOD(hooked, "libraries are found by their versioned name too") {
  CHECK(installed.load_library("libno_such_library.so") == nullptr);
  CHECK(installed.load_library("libstdc++.so.6") != nullptr);
  CHECK(installed.get_symbol("cuLaunchKernel") == nullptr);
}

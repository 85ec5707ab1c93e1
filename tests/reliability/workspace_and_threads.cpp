// Memory and threads behind generated code, and many callers at once.
#include "fake_library.hpp"
#include "runtime/memory.hpp"
#include "runtime/threads.hpp"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <future>
#include <mutex>
#include <set>
#include <string>
#include <thread>

using namespace attune;
using namespace attune::axes;

TEST_CASE("blocks are aligned, readable around, and come back") {
  release_workspace();
  const std::size_t before = workspace_bytes();
  char *a = static_cast<char *>(workspace_allocate(nullptr, 100000));
  REQUIRE(a);
  CHECK(reinterpret_cast<std::uintptr_t>(a) % 64 == 0);
  volatile char around = static_cast<char>(a[-64] + a[100000 + 63]);
  static_cast<void>(around);
  std::memset(a, 1, 100000);
  const std::size_t used = workspace_bytes();
  CHECK(used >= before + 100000);
  workspace_release(nullptr, a);
  CHECK(workspace_bytes() == used);
  CHECK(workspace_allocate(nullptr, 99990) == a);
  workspace_release(nullptr, a);
  char *small = static_cast<char *>(workspace_allocate(nullptr, 100));
  CHECK(small != a); // a large block is not spent on a small request
  workspace_release(nullptr, small);
  release_workspace();
  CHECK(workspace_bytes() == before);
}

TEST_CASE("what a thread keeps is bounded, and its end gives everything back") {
  release_workspace();
  const std::size_t before = workspace_bytes();
  set_workspace_limit(1 << 20);
  std::thread([&] {
    void *blocks[8];
    for (void *&b : blocks) b = workspace_allocate(nullptr, 300000);
    for (void *b : blocks) workspace_release(nullptr, b);
    CHECK(workspace_bytes() <= before + (1 << 20) + 8 * 128);
    void *large = workspace_allocate(nullptr, 4 << 20);
    workspace_release(nullptr, large);
    CHECK(workspace_bytes() <= before + (1 << 20) + 8 * 128);
  }).join();
  set_workspace_limit(std::size_t{64} << 20);
  CHECK(workspace_bytes() == before);
  CHECK(workspace_allocate(nullptr, SIZE_MAX - 100) == nullptr);
  CHECK(workspace_allocate(nullptr, std::size_t{1} << 60) == nullptr);
}

TEST_CASE("another thread's workspace can be released") {
  release_workspace();
  const std::size_t before = workspace_bytes();
  std::promise<void> kept, done;
  std::thread other([&] {
    workspace_release(nullptr, workspace_allocate(nullptr, 50000));
    kept.set_value();
    done.get_future().wait();
  });
  kept.get_future().wait();
  CHECK(workspace_bytes() > before);
  release_workspace();
  CHECK(workspace_bytes() == before);
  done.set_value();
  other.join();
}

TEST_CASE("a caller's allocator is used instead, and may be an arena without release") {
  struct arena {
    alignas(64) char memory[4096];
    int allocations = 0, releases = 0;
  } a;
  call_context context;
  context.memory.self = &a;
  context.memory.allocate = [](void *self, std::size_t bytes) -> void * {
    ++static_cast<arena *>(self)->allocations;
    return bytes <= 4096 ? static_cast<arena *>(self)->memory : nullptr;
  };
  void *block = workspace_allocate(&context, 1000);
  CHECK(block == a.memory + 64);
  workspace_release(&context, block);
  CHECK(workspace_allocate(&context, 5000) == nullptr);
  context.memory.release = [](void *self, void *) { ++static_cast<arena *>(self)->releases; };
  workspace_release(&context, block);
  CHECK(a.allocations == 2);
  CHECK(a.releases == 1);
}

TEST_CASE("each task runs once, on no more threads than asked for") {
  for (int threads : {1, 2, 5, 80}) {
    call_context context;
    context.threads = threads;
    struct {
      std::atomic<int> ran[1000] = {};
      std::mutex lock;
      std::set<std::thread::id> ids;
    } state;
    run_tasks(&context, 1000, [](void *self, int i) {
      auto &s = *static_cast<decltype(state) *>(self);
      ++s.ran[i];
      const std::lock_guard<std::mutex> hold(s.lock);
      s.ids.insert(std::this_thread::get_id());
    }, &state);
    for (const std::atomic<int> &n : state.ran) REQUIRE(n == 1);
    CHECK(static_cast<int>(state.ids.size()) <= threads);
  }
  run_tasks(nullptr, 0, [](void *, int) { FAIL("no task"); }, nullptr);
}

TEST_CASE("a helper does take part") {
  call_context context;
  context.threads = 2;
  std::atomic<int> meeting{0}; // two tasks that wait for each other end only on two threads
  run_tasks(&context, 2, [](void *self, int) {
    std::atomic<int> &m = *static_cast<std::atomic<int> *>(self);
    ++m;
    while (m < 2) std::this_thread::yield();
  }, &meeting);
  CHECK(meeting == 2);
}

TEST_CASE("threads begin with tasks of their own, each with neighbours") {
  call_context context;
  context.threads = 2;
  struct {
    std::atomic<int> ended{0}, ended_before_second_half{-1};
  } state;
  run_tasks(&context, 100, [](void *self, int i) {
    auto &s = *static_cast<decltype(state) *>(self);
    if (i == 50) s.ended_before_second_half = s.ended.load();
    while (i == 0 && s.ended_before_second_half < 0) std::this_thread::yield();
    ++s.ended;
  }, &state);
  CHECK(state.ended_before_second_half == 0);
  CHECK(state.ended == 100);
}

TEST_CASE("tasks inside tasks run in place") {
  call_context context;
  context.threads = 4;
  std::atomic<int> count{0};
  run_tasks(&context, 8, [](void *self, int) {
    const std::thread::id here = std::this_thread::get_id();
    struct inner_data {
      std::atomic<int> &count;
      std::thread::id here;
      bool same;
    } inner{*static_cast<std::atomic<int> *>(self), here, true};
    run_tasks(nullptr, 16, [](void *s, int) {
      inner_data &d = *static_cast<inner_data *>(s);
      ++d.count;
      d.same = d.same && d.here == std::this_thread::get_id();
    }, &inner);
    if (!inner.same) inner.count += 1000000;
  }, &count);
  CHECK(count == 8 * 16);
}

TEST_CASE("a host's pool gets the tasks") {
  struct host {
    int calls = 0, count = 0;
  } h;
  call_context context;
  context.pool.self = &h;
  context.pool.run = [](void *self, int count, void (*task)(void *, int), void *argument) {
    host &it = *static_cast<host *>(self);
    ++it.calls;
    it.count += count;
    for (int i = count; i-- > 0;) task(argument, i);
  };
  int sum = 0;
  run_tasks(&context, 10, [](void *self, int i) { *static_cast<int *>(self) += i; }, &sum);
  CHECK(sum == 45);
  CHECK(h.calls == 1);
  CHECK(h.count == 10);
}

TEST_CASE("many callers at once each get their own results") {
  fake::forget();
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 6; ++c)
    callers.emplace_back([c, &wrong] {
      tensor<float, batch<>, head<4>, query<>, head_dim<3>> q(2, 5);
      tensor<float, kv_head<2>, key<>, head_dim<3>> k(5);
      tensor<float, kv_head<2>, key<>, value_dim<2>> v(5);
      tensor<float, batch<>, head<4>, query<>, value_dim<2>> out(2, 5);
      tensor<float, batch<>, head<4>, query<>> lse(2, 5);
      tensor<float, batch<>, head<4>, query<>, key<>> weights(2, 5, 5);
      call_options options;
      options.threads = 1 + c % 4;
      for (int round = 0; round < 300; ++round) {
        const float value = static_cast<float>(1000 * c + round);
        for (float &x : q) x = value;
        if (!kernel<fake::plain>{}.try_call(q, k, v, out, lse, weights, options)) ++wrong;
        for (float x : out) wrong += x != 2 * value;
        if (round % 50 == 0) release_workspace();
      }
    });
  for (std::thread &t : callers) t.join();
  CHECK(wrong == 0);
}

namespace {
status plain_call(const call_options &options) {
  tensor<float, head<4>, query<>, head_dim<3>> q(3);
  tensor<float, kv_head<2>, key<>, head_dim<3>> k(5);
  tensor<float, kv_head<2>, key<>, value_dim<2>> v(5);
  tensor<float, head<4>, query<>, value_dim<2>> out(3);
  tensor<float, head<4>, query<>> lse(3);
  tensor<float, head<4>, query<>, key<>> weights(3, 5);
  return kernel<fake::plain>{}.try_call(q, k, v, out, lse, weights, options);
}
} // namespace

TEST_CASE("a number of threads below 0 is refused") {
  fake::forget();
  call_options options;
  options.threads = -1;
  const status s = plain_call(options);
  CHECK(name_of(s.code) == std::string("bad_option"));
  CHECK_THAT(s.message(), Catch::Matchers::Contains("fake::plain: the option threads is -1, expected 1 or more"));
  CHECK(fake::last().calls == 0);
  detail::packed_memory packed;
  CHECK(pack_weights(artefact<fake::crossed>::info(), {}, options, packed).code == error_code::bad_option);
}

TEST_CASE("ATTUNE_THREADS is a whole number from 1 on, or calls that need it say what it is", "[.threads]") {
  const char *text = std::getenv("ATTUNE_THREADS");
  REQUIRE(text);
  fake::forget();
  const status s = plain_call({});
  if (std::string(text) == "3" || std::string(text).empty()) {
    CHECK(s);
    CHECK((*text == 0 || default_threads() == 3));
  } else {
    CHECK(name_of(s.code) == std::string("bad_option"));
    CHECK_THAT(s.message(), Catch::Matchers::Contains("ATTUNE_THREADS says \"" + std::string(text) + "\", expected a whole number from 1"));
    CHECK(fake::last().calls == 0);
  }
  call_options options;
  options.threads = 2;
  CHECK(plain_call(options));
}

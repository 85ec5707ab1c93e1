#include "runtime/threads.hpp"
#include <sched.h>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <climits>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

namespace attune {
namespace {

thread_local bool inside_task = false;

/// Neighbouring tasks. A thread begins with a share of its own, so that what neighbours read (a head's keys and values, the heads that a
/// projection made) stays in its core's cache, and goes on with what others have left. Two threads of an Intel Xeon over one, where the next task
/// went to whoever was free and now: causal, f32, 4,096 tokens 1.86, 2.00; layers in bf16, 512 and 1,024 tokens 1.71 to 1.81, 1.92 and 1.98.
struct alignas(64) share { // a line each: all threads count in theirs
  std::atomic<int> next{0};
  int end = 0;
  bool has_tasks() const { return next.load(std::memory_order_relaxed) < end; }
};

/// One call's tasks. Lives on the caller's stack until no worker holds it.
class job {
public:
  job(void (*task)(void *, int), void *argument, int count, int wanted) : helpers_wanted(wanted), task_(task), argument_(argument), shares_(std::min(wanted + 1, most_shares)) {
    const auto from = [&](int i) { return static_cast<int>(std::int64_t{count} * i / shares_); };
    for (int i = 0; i < shares_; ++i) share_[i].next.store(from(i), std::memory_order_relaxed), share_[i].end = from(i + 1);
  }
  bool has_tasks() const { return std::any_of(share_, share_ + shares_, [](const share &s) { return s.has_tasks(); }); }
  /// Runs tasks until none is left; `first`: the number of the share to begin with.
  void work(int first) {
    inside_task = true;
    for (int i = 0; i < shares_; ++i) {
      share &s = share_[(first + i) % shares_];
      for (int t; s.has_tasks() && (t = s.next.fetch_add(1, std::memory_order_relaxed)) < s.end;) task_(argument_, t);
    }
    inside_task = false;
  }

  int helpers_wanted;          ///< guarded by the pool's lock
  std::atomic<int> helpers{0}; ///< workers inside; changed under the pool's lock
  job *later = nullptr;        ///< the next job in the pool's list; guarded by the pool's lock

private:
  static constexpr int most_shares = 64; ///< further threads begin where others did
  void (*task_)(void *argument, int i);
  void *argument_;
  const int shares_;
  share share_[most_shares];
};

/// Waits a little for a condition that is about to come true; far shorter than a sleep and a wake-up take.
template <class Condition> void spin_until(Condition holds) {
  for (int i = 0; i < 4000 && !holds(); ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
  }
}

class worker_pool {
public:
  void run(job &j) {
    const int helpers = j.helpers_wanted;
    {
      const std::lock_guard<std::mutex> hold(lock_);
      grow(helpers);
      j.later = jobs_;
      jobs_ = &j;
      ++posted_;
    }
    for (int i = 0; i < helpers; ++i) work_.notify_one();
    j.work(0);
    {
      const std::lock_guard<std::mutex> hold(lock_);
      remove(j);
    }
    spin_until([&] { return j.helpers.load(std::memory_order_acquire) == 0; });
    std::unique_lock<std::mutex> hold(lock_); // also lets the last helper leave the pool's lock
    done_.wait(hold, [&] { return j.helpers == 0; });
  }

private:
  void remove(job &j) {
    job **at = &jobs_;
    while (*at != &j) at = &(*at)->later;
    *at = j.later;
  }
  /// Fewer workers than wanted is no error: the caller does what they leave.
  void grow(int wanted) {
    while (workers_ < wanted) {
      try {
        std::thread([this] { serve(); }).detach();
      } catch (const std::system_error &) {
        return;
      }
      ++workers_;
    }
  }
  job *open_job() {
    for (job *j = jobs_; j; j = j->later)
      if (j->helpers_wanted > 0 && j->has_tasks()) return j;
    return nullptr;
  }
  void serve() {
    std::unique_lock<std::mutex> hold(lock_);
    for (;;) {
      job *j = nullptr;
      work_.wait(hold, [&] { return (j = open_job()) != nullptr; });
      const int first_share = j->helpers_wanted--;
      ++j->helpers;
      hold.unlock();
      j->work(first_share);
      hold.lock();
      if (--j->helpers == 0) done_.notify_all();
      const unsigned seen = posted_;
      hold.unlock();
      spin_until([&] { return posted_.load(std::memory_order_relaxed) != seen; });
      hold.lock();
    }
  }

  std::mutex lock_;
  std::condition_variable work_, done_;
  job *jobs_ = nullptr;
  std::atomic<unsigned> posted_{0};
  int workers_ = 0;
};

/// Never destroyed: its threads sleep until the process ends.
worker_pool &pool() {
  static worker_pool *const p = new worker_pool;
  return *p;
}

int usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(CPU_COUNT(&set), 1);
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

/// ATTUNE_THREADS as it was when first needed.
struct thread_setting {
  int count = 0;       ///< 0: not set or empty; -1: not a whole number from 1 on
  char text[64] = {};  ///< its value, cut to what a message needs
};

const thread_setting &environment_threads() {
  static const thread_setting setting = [] {
    thread_setting s;
    const char *text = std::getenv("ATTUNE_THREADS");
    if (!text || !*text) return s;
    const char *const end = text + std::strlen(text);
    std::snprintf(s.text, sizeof s.text, "%s", text);
    const auto [stop, error] = std::from_chars(text, end, s.count);
    if (error != std::errc() || stop != end || s.count < 1) s.count = -1;
    return s;
  }();
  return setting;
}

} // namespace

int default_threads() noexcept {
  const int asked = environment_threads().count;
  if (asked > 0) return asked;
  static const int cpus = usable_cpus();
  return cpus;
}

status check_threads(const char *spec, const call_options &options) noexcept {
  if (options.threads < 0)
    return failure(error_code::bad_option, "%s: the option threads is %d, expected 1 or more, or 0 for the default.", spec, options.threads);
  const thread_setting &setting = environment_threads();
  if (options.threads == 0 && !options.pool.run && setting.count < 0)
    return failure(error_code::bad_option, "%s: ATTUNE_THREADS says \"%s\", expected a whole number from 1 to %d. Correct it or unset it.", spec, setting.text, INT_MAX);
  return {};
}

void run_tasks(const call_context *context, int count, void (*task)(void *argument, int i), void *argument) noexcept {
  if (context && context->pool.run) return context->pool.run(context->pool.self, count, task, argument);
  const int threads = context && context->threads > 0 ? context->threads : default_threads();
  const int helpers = std::min(threads, count) - 1;
  if (helpers < 1 || inside_task) {
    for (int i = 0; i < count; ++i) task(argument, i);
    return;
  }
  job j(task, argument, count, helpers);
  pool().run(j);
}

} // namespace attune

#include "runtime/threads.hpp"
#include <sched.h>
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace attune {
namespace {

thread_local bool inside_task = false;

/// One call's tasks. Lives on the caller's stack until no worker holds it.
struct job {
  void (*task)(void *argument, int i);
  void *argument;
  int count;
  int helpers_wanted;      ///< guarded by the pool's lock
  int helpers = 0;         ///< workers inside; guarded by the pool's lock
  std::atomic<int> next{0};

  job(void (*f)(void *, int), void *a, int n, int wanted) : task(f), argument(a), count(n), helpers_wanted(wanted) {}
  void work() {
    inside_task = true;
    for (int i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) task(argument, i);
    inside_task = false;
  }
};

class worker_pool {
public:
  void run(job &j) {
    {
      std::unique_lock<std::mutex> hold(lock_);
      grow(j.helpers_wanted);
      jobs_.push_back(&j);
    }
    work_.notify_all();
    j.work();
    std::unique_lock<std::mutex> hold(lock_);
    jobs_.erase(std::remove(jobs_.begin(), jobs_.end(), &j), jobs_.end());
    done_.wait(hold, [&] { return j.helpers == 0; });
  }

private:
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
    for (job *j : jobs_)
      if (j->helpers_wanted > 0 && j->next.load(std::memory_order_relaxed) < j->count) return j;
    return nullptr;
  }
  void serve() {
    std::unique_lock<std::mutex> hold(lock_);
    for (;;) {
      job *j = nullptr;
      work_.wait(hold, [&] { return (j = open_job()) != nullptr; });
      --j->helpers_wanted;
      ++j->helpers;
      hold.unlock();
      j->work();
      hold.lock();
      if (--j->helpers == 0) done_.notify_all();
    }
  }

  std::mutex lock_;
  std::condition_variable work_, done_;
  std::vector<job *> jobs_;
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

} // namespace

int default_threads() noexcept {
  static const int count = [] {
    const char *text = std::getenv("ATTUNE_THREADS");
    const int asked = text ? std::atoi(text) : 0;
    return asked > 0 ? asked : usable_cpus();
  }();
  return count;
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

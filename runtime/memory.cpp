// Kernels allocate the same few blocks in every task. Handing them back to libc each time costs page faults that make a
// kernel several times slower, so each thread keeps its own.
#include "runtime/memory.hpp"
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace attune {
namespace {

constexpr std::size_t guard = 64;      ///< readable bytes before and behind a block; the one before holds its header
constexpr std::size_t alignment = 64;
constexpr int kept_blocks = 32;

struct block_header {
  std::size_t capacity;
};
static_assert(sizeof(block_header) <= guard);

std::atomic<std::size_t> total_bytes{0};
std::atomic<std::size_t> kept_limit{std::size_t{64} << 20};

block_header *header_of(void *block) { return reinterpret_cast<block_header *>(static_cast<char *>(block) - guard); }
std::size_t footprint(std::size_t capacity) { return capacity + 2 * guard; }

/// Rounded up so that blocks of nearly the same size serve each other: to 4 KiB, and by eighths of a power of two above 64 KiB.
std::size_t rounded(std::size_t bytes) {
  std::size_t step = 4096;
  while (step * 16 <= bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

void *system_allocate(std::size_t capacity) {
  void *raw = std::aligned_alloc(alignment, footprint(capacity));
  if (!raw) return nullptr;
  static_cast<block_header *>(raw)->capacity = capacity;
  total_bytes += footprint(capacity);
  return static_cast<char *>(raw) + guard;
}
void system_release(void *block) {
  total_bytes -= footprint(header_of(block)->capacity);
  std::free(header_of(block));
}

/// The free blocks of one thread. The lock is for release_workspace from another thread, and as good as always free.
class workspace {
public:
  void *take(std::size_t bytes) {
    const std::lock_guard<std::mutex> hold(lock_);
    int best = -1;
    for (int i = 0; i < count_; ++i) {
      const std::size_t capacity = header_of(kept_[i])->capacity;
      if (capacity >= bytes && capacity <= 2 * bytes + 4096 && (best < 0 || capacity < header_of(kept_[best])->capacity)) best = i;
    }
    if (best < 0) return nullptr;
    void *block = kept_[best];
    std::copy(kept_ + best + 1, kept_ + count_, kept_ + best); // in their order: the oldest is dropped first
    --count_;
    bytes_ -= header_of(block)->capacity;
    return block;
  }
  void keep(void *block) {
    const std::lock_guard<std::mutex> hold(lock_);
    const std::size_t capacity = header_of(block)->capacity, limit = kept_limit;
    while (count_ > 0 && (count_ == kept_blocks || bytes_ + capacity > limit)) drop_oldest();
    if (capacity > limit) return system_release(block);
    kept_[count_++] = block;
    bytes_ += capacity;
  }
  void release() {
    const std::lock_guard<std::mutex> hold(lock_);
    while (count_ > 0) drop_oldest();
  }

private:
  void drop_oldest() {
    bytes_ -= header_of(kept_[0])->capacity;
    system_release(kept_[0]);
    std::copy(kept_ + 1, kept_ + count_, kept_);
    --count_;
  }
  std::mutex lock_;
  void *kept_[kept_blocks];
  int count_ = 0;
  std::size_t bytes_ = 0;
};

struct workspace_list {
  std::mutex lock;
  std::vector<workspace *> all;
};
workspace_list &list() { // never destroyed: threads may end after static objects
  static workspace_list *const l = new workspace_list;
  return *l;
}

/// A thread's own workspace, in the list for as long as the thread lives.
struct own_workspace {
  workspace blocks;
  own_workspace() {
    const std::lock_guard<std::mutex> hold(list().lock);
    list().all.push_back(&blocks);
  }
  ~own_workspace() {
    const std::lock_guard<std::mutex> hold(list().lock);
    std::vector<workspace *> &all = list().all;
    all.erase(std::remove(all.begin(), all.end(), &blocks), all.end());
    blocks.release();
  }
};
workspace &own() {
  thread_local own_workspace w;
  return w.blocks;
}

} // namespace

std::size_t workspace_bytes() noexcept { return total_bytes; }

void release_workspace() noexcept {
  const std::lock_guard<std::mutex> hold(list().lock);
  for (workspace *w : list().all) w->release();
}

void set_workspace_limit(std::size_t bytes_per_thread) noexcept { kept_limit = bytes_per_thread; }

void *workspace_allocate(const call_context *context, std::size_t bytes) noexcept {
  if (bytes > SIZE_MAX / 2) return nullptr;
  if (context && context->memory.allocate) {
    char *raw = static_cast<char *>(context->memory.allocate(context->memory.self, bytes + 2 * guard));
    return raw ? raw + guard : nullptr;
  }
  void *block = own().take(bytes);
  return block ? block : system_allocate(rounded(bytes));
}

void workspace_release(const call_context *context, void *block) noexcept {
  if (!block) return;
  if (context && context->memory.allocate) {
    if (context->memory.release) context->memory.release(context->memory.self, static_cast<char *>(block) - guard);
    return;
  }
  own().keep(block);
}

} // namespace attune

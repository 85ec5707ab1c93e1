// An allocator for a call's workspace that knows how much was held at most.
#pragma once
#include "runtime/call_context.hpp"
#include <atomic>
#include <cstdlib>

namespace attune::bench {

class counting_allocator {
public:
  allocator hooks() { return {this, allocate, release}; }
  std::size_t most() const { return most_; }

private:
  static constexpr std::size_t front = 64; ///< a block's size stands before it

  static void *allocate(void *self, std::size_t bytes) {
    char *raw = static_cast<char *>(std::aligned_alloc(64, (bytes + front + 63) / 64 * 64));
    if (!raw) return nullptr;
    *reinterpret_cast<std::size_t *>(raw) = bytes;
    auto &counted = *static_cast<counting_allocator *>(self);
    const std::size_t held = counted.now_ += bytes;
    for (std::size_t seen = counted.most_; seen < held && !counted.most_.compare_exchange_weak(seen, held);) {}
    return raw + front;
  }
  static void release(void *self, void *block) {
    char *raw = static_cast<char *>(block) - front;
    static_cast<counting_allocator *>(self)->now_ -= *reinterpret_cast<std::size_t *>(raw);
    std::free(raw);
  }

  std::atomic<std::size_t> now_{0}, most_{0};
};

} // namespace attune::bench

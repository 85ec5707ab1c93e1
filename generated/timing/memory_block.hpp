// Memory of a benchmark: whole pages, huge ones where the system gives them, as numerical libraries ask for large arrays.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <sys/mman.h>
#include <utility>

namespace attune {

class memory_block {
public:
  memory_block() = default;
  explicit memory_block(std::size_t bytes) : bytes_(bytes), mapped_(bytes + huge_page) {
    pages_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages_ == MAP_FAILED) throw std::bad_alloc();
    madvise(pages_, mapped_, MADV_HUGEPAGE); // a wish: without them all is right, only slower
  }
  memory_block(memory_block &&other) noexcept { *this = std::move(other); }
  memory_block &operator=(memory_block &&other) noexcept {
    std::swap(pages_, other.pages_), std::swap(bytes_, other.bytes_), std::swap(mapped_, other.mapped_);
    return *this;
  }
  ~memory_block() {
    if (pages_) munmap(pages_, mapped_);
  }
  /// At the beginning of a huge page; zeros at first.
  char *data() const { return pages_ ? static_cast<char *>(pages_) + (huge_page - reinterpret_cast<std::uintptr_t>(pages_) % huge_page) % huge_page : nullptr; }
  std::size_t bytes() const { return bytes_; }
  /// Reads a byte of every 4 KiB: a virtual machine's host may have put pages aside that nobody used for a second.
  void touch() const {
    for (std::size_t at = 0; at < bytes_; at += 4096) static_cast<void>(*static_cast<const volatile char *>(data() + at));
  }

private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  void *pages_ = nullptr;
  std::size_t bytes_ = 0, mapped_ = 0;
};

} // namespace attune

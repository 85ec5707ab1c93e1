// How a call ends: one code with one line of meaning each, and a text for people. C++17.
#pragma once
#include <cstdarg>
#include <stdexcept>

namespace attune {

enum class error_code {
  ok,
  wrong_count,        ///< not as many tensors or numbers as the spec has
  missing_tensor,     ///< a tensor that is not empty has no data, or one that the spec needs was not passed
  wrong_axis,         ///< a view has an axis that the tensor does not have, has one twice, or lacks one
  wrong_extent,       ///< an extent is not the spec's, or two tensors of one call disagree
  wrong_element,      ///< elements of another type than the spec's
  wrong_stride,       ///< a negative stride, or a last axis that is not contiguous where it must be
  misaligned,         ///< an address that is no multiple of the element's size
  not_writable,       ///< a tensor that the kernel writes was passed as read-only
  overlap,            ///< a tensor that is written shares memory with another one, or with itself
  too_large,          ///< an extent or a stride that does not fit in 31 bits, or more than a call can count
  bad_lengths,        ///< a key length below 0 or above the key extent (or the page table's)
  bad_page,           ///< a page table leads outside the cache's pages
  bad_positions,      ///< a position offset out of range, or tables of angles without a position of the call
  bad_number,         ///< a run-time number that is not finite or out of its range
  bad_option,         ///< call options, or an environment variable that stands in for one, with a value that they cannot have
  empty_row,          ///< a query may attend to no key, and the spec says that this is an error
  wrong_weights,      ///< weights packed for another spec or for another target
  stale_header,       ///< the header that the caller was compiled with is not the library's
  unknown_target,     ///< a forced target does not exist, is not in this build, or cannot run here
  no_usable_target,   ///< none of the targets in this build can run on this machine
  unknown_spec,       ///< no library of this program holds a spec of this name
  unknown_name,       ///< the spec has no tensor or number of this name
  unsupported_device, ///< a tensor that is not in the host's memory
  out_of_memory,      ///< the allocator returned no memory
  kernel_failed,      ///< generated code reported an error: the text is its own
};

constexpr const char *name_of(error_code c) {
  constexpr const char *names[] = {"ok", "wrong_count", "missing_tensor", "wrong_axis", "wrong_extent", "wrong_element", "wrong_stride", "misaligned",
                                   "not_writable", "overlap", "too_large", "bad_lengths", "bad_page", "bad_positions", "bad_number", "bad_option", "empty_row", "wrong_weights", "stale_header",
                                   "unknown_target", "no_usable_target", "unknown_spec", "unknown_name", "unsupported_device", "out_of_memory",
                                   "kernel_failed"};
  return names[static_cast<int>(c)];
}

/// The result of a call as a value. True when the call did its work; otherwise no tensor was written, unless the code is
/// kernel_failed or out_of_memory, where the outputs' contents are not specified.
struct [[nodiscard]] status {
  error_code code = error_code::ok;
  char text[1000]; ///< what was wrong, where, expected and got, what to do; empty when ok

  status() noexcept { text[0] = 0; }
  explicit operator bool() const noexcept { return code == error_code::ok; }
  const char *message() const noexcept { return text; }
};

/// The result of a call as an exception.
struct error : std::runtime_error {
  error_code code;
  explicit error(const status &s) : std::runtime_error(s.message()), code(s.code) {}
};

/// Throws if the status is an error.
inline void require(const status &s) {
  if (!s) throw error(s);
}

/// A status with a printf-formatted text.
[[gnu::format(printf, 2, 3)]] status failure(error_code code, const char *format, ...) noexcept;

} // namespace attune

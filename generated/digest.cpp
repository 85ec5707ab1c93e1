#include "generated/digest.hpp"
#include "generated/files.hpp"
#include <dlfcn.h>
#include <fmt/format.h>
#include <stdexcept>

namespace attune {

std::string hexadecimal(std::uint64_t value) { return fmt::format("{:016x}", value); }

const std::string &generator_digest() {
  static const std::string digest = [] {
    Dl_info here{};
    if (dladdr(reinterpret_cast<const void *>(&hexadecimal), &here) == 0 || here.dli_fname == nullptr)
      throw std::runtime_error("the emitter cannot find its own library file, so it cannot tell which generator it is");
    return hexadecimal(fnv1a(text_of(here.dli_fname)));
  }();
  return digest;
}

} // namespace attune

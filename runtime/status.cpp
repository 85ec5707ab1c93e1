#include "runtime/status.hpp"
#include <cstdio>

namespace attune {

status failure(error_code code, const char *format, ...) noexcept {
  status s;
  s.code = code;
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(s.text, sizeof s.text, format, arguments);
  va_end(arguments);
  return s;
}

} // namespace attune

// Names of types as people wrote them, namespaces kept; the same text from every compiler.
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace attune {
namespace language {

/// The name of T within the compiler's own spelling of this function: "... [with T = name]" or "... [T = name]".
template <class T> constexpr std::string_view written_name() {
#if defined(__clang__)
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  constexpr auto from = text.find("[T = ") + 5;
  return text.substr(from, text.rfind(']') - from);
#else
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  constexpr auto from = text.find("[with T = ") + 10;
  return text.substr(from, text.find(';', from) - from);
#endif
}

/// The last part of T's name, as a C string.
template <class T> struct short_name {
  static constexpr std::string_view whole = written_name<T>();
  static constexpr std::string_view last = whole.substr(whole.rfind(':') == std::string_view::npos ? 0 : whole.rfind(':') + 1);
  static constexpr auto stored = [] {
    std::array<char, last.size() + 1> text{};
    for (std::size_t i = 0; i < last.size(); ++i) text[i] = last[i];
    return text;
  }();
  static constexpr const char *value = stored.data();
};

} // namespace language

/// "gpt2", "my_app::variant". An unnamed namespace is spelt (anonymous).
template <class Spec> std::string spec_name() {
  std::string name{language::written_name<Spec>()};
  for (const std::string_view spelling : {"{anonymous}", "(anonymous namespace)"})
    for (auto at = name.find(spelling); at != std::string::npos; at = name.find(spelling, at))
      name.replace(at, spelling.size(), "(anonymous)");
  return name;
}

} // namespace attune

#include "generated/tool/catalogue.hpp"
#include "generated/names.hpp"
#include "runtime/edit_distance.hpp"
#include <fmt/format.h>
#include <stdexcept>

namespace attune {
namespace {
bool near(std::string_view asked, std::string_view name) {
  return name.find(asked) != name.npos || asked.find(name) != asked.npos || edit_distance(asked, name) <= 3;
}
} // namespace

const tool_spec &find_spec(const std::string &name) {
  const std::string last = stem_of(name);
  std::string matches;
  for (const tool_spec &s : tool_specs()) {
    if (name == s.name || name == s.info().spec) return s;
    if (near(last, s.name)) matches += fmt::format("{}{}", matches.empty() ? "" : ", ", s.name);
  }
  throw std::runtime_error(fmt::format("there is no spec \"{}\"; {}", name,
                                       matches.empty() ? "the subcommand specs lists them" : fmt::format("did you mean {}?", matches)));
}

} // namespace attune

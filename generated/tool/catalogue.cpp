#include "generated/tool/catalogue.hpp"
#include "runtime/edit_distance.hpp"
#include <fmt/format.h>
#include <stdexcept>

namespace attune {
namespace {
bool near(std::string_view asked, std::string_view name) {
  return name.find(asked) != name.npos || asked.find(name) != asked.npos || edit_distance(asked, name) <= 3;
}
} // namespace

const stock_spec &find_stock_spec(const std::string &name) {
  std::string matches;
  for (const stock_spec &s : stock_specs()) {
    if (name == s.name) return s;
    if (near(name, s.name)) matches += fmt::format("{}{}", matches.empty() ? "" : ", ", s.name);
  }
  throw std::runtime_error(fmt::format("there is no stock spec \"{}\"; {}", name,
                                       matches.empty() ? "\"attune specs\" lists them" : fmt::format("did you mean {}?", matches)));
}

} // namespace attune

#include "generated/tool/catalogue.hpp"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <stdexcept>

namespace attune {
namespace {
/// Insertions, deletions and replacements that turn one word into the other.
int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    int diagonal = std::exchange(row[0], static_cast<int>(i) + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const int replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

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

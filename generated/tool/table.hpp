// Rows of words as aligned columns, or as a Markdown table.
#pragma once
#include <string>
#include <vector>

namespace attune {

/// The first row is the heading.
using table = std::vector<std::vector<std::string>>;

std::string as_columns(const table &);
std::string as_markdown(const table &);
std::string joined(const std::vector<std::string> &words, const char *between);

} // namespace attune

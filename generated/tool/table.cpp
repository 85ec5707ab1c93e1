#include "generated/tool/table.hpp"
#include <algorithm>

namespace attune {
namespace {
/// Characters of UTF-8 text: all bytes but the continuation bytes.
std::size_t width(const std::string &text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}
} // namespace

std::string as_columns(const table &rows) {
  std::vector<std::size_t> widest(rows.front().size());
  for (const auto &row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widest[i] = std::max(widest[i], width(row[i]));
  std::string text;
  for (const auto &row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += row[i] + std::string(widest[i] - width(row[i]) + 2, ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string as_markdown(const table &rows) {
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += "| " + joined(rows[r], " | ") + " |\n";
    if (r > 0) continue;
    for (std::size_t i = 0; i < rows[0].size(); ++i) text += "|---";
    text += "|\n";
  }
  return text;
}

std::string joined(const std::vector<std::string> &words, const char *between) {
  std::string text;
  for (const std::string &word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

} // namespace attune

// Files that are either whole or not there, and that are left alone where nothing changed.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace attune {

/// The whole file as text; empty if it cannot be read.
std::string text_of(const std::filesystem::path &);

/// Writes the file unless it holds exactly this already. Returns whether it was written.
bool write_if_different(const std::filesystem::path &, std::string_view text);

/// A file under a name of its own in the same folder until keep() moves it to its place; removed if never kept. Made at once, and empty, so
/// that a place that cannot be written is said before the work is done. Throws std::runtime_error.
class unfinished_file {
public:
  explicit unfinished_file(std::filesystem::path place);
  unfinished_file(unfinished_file &&other) noexcept;
  unfinished_file(const unfinished_file &) = delete;
  ~unfinished_file();

  const std::filesystem::path &path() const { return temporary; }
  void keep();
  /// Moves it to its place only if the bytes differ from what stands there.
  void keep_if_different();

private:
  std::filesystem::path place, temporary;
};

} // namespace attune

// A file that is read forwards or by position, with every read checked against its length: the readers of .npy and
// .safetensors stand on it, so that a damaged file gives one clear sentence and never a huge allocation.
#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

class binary_file {
public:
  explicit binary_file(const std::filesystem::path &);

  /// Throws std::runtime_error "PATH: what".
  [[noreturn]] void fail(std::string_view what) const;

  // Each throws if the file ends first; `part` says in words what is read.
  std::string read_text(std::uint64_t bytes, std::string_view part);
  std::uint64_t read_unsigned(int bytes, std::string_view part); ///< little-endian, at most 8 bytes
  std::vector<float> read_floats(std::uint64_t count, std::string_view part);

  void seek(std::uint64_t position);
  std::uint64_t bytes_left() const { return size_ - position_; }
  std::uint64_t size() const { return size_; }

private:
  void require(std::uint64_t bytes, std::string_view part) const; ///< before anything is allocated by a size from the file
  void read(void *to, std::uint64_t bytes, std::string_view part);

  std::filesystem::path path_;
  std::ifstream stream_;
  std::uint64_t size_ = 0, position_ = 0;
};

/// The product of the extents; fails if it passes what a file can hold.
std::uint64_t count_elements(const binary_file &, const std::vector<std::size_t> &shape);

} // namespace examples

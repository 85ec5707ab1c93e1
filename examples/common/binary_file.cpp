#include "common/binary_file.hpp"
#include <bit>
#include <fmt/format.h>
#include <stdexcept>

namespace examples {

static_assert(std::endian::native == std::endian::little, "both formats store little-endian numbers, which are read as they are");

binary_file::binary_file(const std::filesystem::path &path) : path_(path), stream_(path, std::ios::binary) {
  std::error_code error;
  size_ = std::filesystem::file_size(path, error);
  if (!stream_ || error) throw std::runtime_error(fmt::format("{}: cannot be opened for reading", path.string()));
}

void binary_file::fail(std::string_view what) const { throw std::runtime_error(fmt::format("{}: {}", path_.string(), what)); }

void binary_file::require(std::uint64_t bytes, std::string_view part) const {
  if (bytes > bytes_left()) fail(fmt::format("truncated: {} takes {} bytes, and {} are left", part, bytes, bytes_left()));
}

void binary_file::read(void *to, std::uint64_t bytes, std::string_view part) {
  require(bytes, part);
  if (!stream_.read(static_cast<char *>(to), static_cast<std::streamsize>(bytes))) fail(fmt::format("{} could not be read", part));
  position_ += bytes;
}

std::string binary_file::read_text(std::uint64_t bytes, std::string_view part) {
  require(bytes, part);
  std::string text(bytes, '\0');
  read(text.data(), bytes, part);
  return text;
}

std::uint64_t binary_file::read_unsigned(int bytes, std::string_view part) {
  std::uint64_t value = 0;
  read(&value, static_cast<std::uint64_t>(bytes), part);
  return value;
}

std::vector<float> binary_file::read_floats(std::uint64_t count, std::string_view part) {
  require(count * sizeof(float), part);
  std::vector<float> values(count);
  read(values.data(), count * sizeof(float), part);
  return values;
}

void binary_file::seek(std::uint64_t position) {
  if (position > size_) fail(fmt::format("truncated: position {} is past its end, {}", position, size_));
  stream_.seekg(static_cast<std::streamoff>(position));
  position_ = position;
}

std::uint64_t count_elements(const binary_file &file, const std::vector<std::size_t> &shape) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 48;
  std::uint64_t count = 1;
  for (std::uint64_t extent : shape) {
    if (extent != 0 && count > limit / extent) file.fail("its shape has more elements than a file can hold");
    count *= extent;
  }
  return count;
}

} // namespace examples

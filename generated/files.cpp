#include "generated/files.hpp"
#include "schedules/make_folder.hpp"
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace attune {
namespace fs = std::filesystem;

std::string text_of(const fs::path &file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool write_if_different(const fs::path &file, std::string_view text) {
  if (fs::exists(file) && text_of(file) == text) return false;
  unfinished_file unfinished(file);
  std::ofstream out(unfinished.path(), std::ios::binary);
  out << text;
  out.close();
  if (!out) throw std::runtime_error(fmt::format("cannot write {}: is the disk full or the folder read-only?", file.string()));
  unfinished.keep();
  return true;
}

unfinished_file::unfinished_file(fs::path final_place) : place(std::move(final_place)) {
  make_folder(place.parent_path());
  temporary = place.parent_path() / fmt::format(".{}.{}.part", place.filename().string(), getpid());
  if (!std::ofstream(temporary)) throw std::runtime_error(fmt::format("cannot write {}: no file can be made in its folder ({}). Name another place.", place.string(), std::strerror(errno)));
}

unfinished_file::unfinished_file(unfinished_file &&other) noexcept
    : place(std::move(other.place)), temporary(std::move(other.temporary)) {
  other.temporary.clear();
}

unfinished_file::~unfinished_file() {
  std::error_code ignored;
  if (!temporary.empty()) fs::remove(temporary, ignored);
}

void unfinished_file::keep() {
  std::error_code failed;
  fs::rename(temporary, place, failed);
  if (failed) throw std::runtime_error(fmt::format("cannot write {}: {}. Move away what is there, or name another place.", place.string(), failed.message()));
  temporary.clear();
}

void unfinished_file::keep_if_different() {
  if (!fs::exists(place) || text_of(place) != text_of(temporary)) keep();
}

} // namespace attune

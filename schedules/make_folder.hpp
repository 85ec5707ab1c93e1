// Making the folder that a file goes into.
#pragma once
#include <filesystem>
#include <stdexcept>

namespace attune {

/// Makes the folder and those that it lies in, where they are not there; nothing for the empty path, the current folder. Throws
/// std::runtime_error.
inline void make_folder(const std::filesystem::path &folder) {
  if (folder.empty()) return;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw std::runtime_error("the folder " + folder.string() + " cannot be made: " + failed.message() + ". Name one that can be written.");
}

} // namespace attune

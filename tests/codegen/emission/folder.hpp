// A folder of its own for a test, gone afterwards.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

class own_folder {
public:
  own_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "attune_emission_XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a folder like " + name);
    path = name;
  }
  ~own_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  own_folder(const own_folder &) = delete;

  /// When each file was last written, by name.
  std::map<std::string, std::filesystem::file_time_type> times() const {
    std::map<std::string, std::filesystem::file_time_type> all;
    for (const auto &entry : std::filesystem::directory_iterator(path)) all[entry.path().filename().string()] = entry.last_write_time();
    return all;
  }

  std::filesystem::path path;
};

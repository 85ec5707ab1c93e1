// Reads .safetensors files: 8 bytes header length, a JSON header (name -> dtype, shape, data_offsets), then the data.
#pragma once
#include "common/binary_file.hpp"
#include <map>
#include <nlohmann/json_fwd.hpp>

namespace examples {

class safetensors_file {
public:
  /// Reads and checks the header only. Throws std::runtime_error, which names the file and what was wrong.
  explicit safetensors_file(const std::filesystem::path &);

  /// The values of one F32 tensor in C order. Throws if it is absent, of another type or of another shape.
  std::vector<float> read(const std::string &name, const std::vector<std::size_t> &shape);

private:
  struct entry {
    std::string type;
    std::vector<std::size_t> shape;
    std::uint64_t begin = 0, end = 0; ///< positions in the file
  };
  void add_entry(const std::string &name, const nlohmann::json &value, std::uint64_t data_begin);

  binary_file file_;
  std::map<std::string, entry> entries_;
};

} // namespace examples

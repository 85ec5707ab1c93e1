// Reads .npy files: one array in NumPy's own format, versions 1 to 3 of its header.
#pragma once
#include <cstddef>
#include <filesystem>
#include <vector>

namespace examples {

struct array_f32 {
  std::vector<std::size_t> shape; ///< outermost axis first
  std::vector<float> values;      ///< in C order
};

/// Reads a little-endian float32 array in C order.
/// Throws std::runtime_error, which names the file and what was found, for anything else.
array_f32 read_npy(const std::filesystem::path &);

} // namespace examples

#include "common/npy.hpp"
#include "common/binary_file.hpp"
#include <cctype>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace examples {
namespace {

constexpr std::uint64_t maximum_header_bytes = 1 << 20; ///< a real header takes 128 bytes; more is a damaged file

/// The header is the text of a Python dict, such as {'descr': '<f4', 'fortran_order': False, 'shape': (8, 384), }:
/// JSON but for its quotes, its tuples, its truth values and the commas before a closing bracket.
std::string as_json(const std::string &python) {
  std::string json;
  for (char c : python) {
    if (c == ')' || c == '}') {
      while (!json.empty() && std::isspace(static_cast<unsigned char>(json.back()))) json.pop_back();
      if (!json.empty() && json.back() == ',') json.pop_back();
    }
    json += c == '\'' ? '"' : c == '(' ? '[' : c == ')' ? ']' : c == 'T' ? 't' : c == 'F' ? 'f' : c;
  }
  return json;
}

} // namespace

array_f32 read_npy(const std::filesystem::path &path) {
  binary_file file(path);
  const std::string magic = file.read_text(6, "the magic string");
  if (magic != "\x93NUMPY") file.fail("it does not begin with the magic string of a .npy file");
  const std::uint64_t major = file.read_unsigned(1, "the version"), minor = file.read_unsigned(1, "the version");
  if (major < 1 || major > 3) file.fail(fmt::format("version {}.{} of the format is unknown; expected 1.0 to 3.0", major, minor));
  const std::uint64_t header_bytes = file.read_unsigned(major == 1 ? 2 : 4, "the header's length");
  if (header_bytes > maximum_header_bytes)
    file.fail(fmt::format("the header says that it takes {} bytes; at most {} are accepted", header_bytes, maximum_header_bytes));

  std::vector<std::size_t> shape;
  try {
    const auto header = nlohmann::json::parse(as_json(file.read_text(header_bytes, "the header")));
    if (const std::string type = header.at("descr"); type != "<f4")
      file.fail(fmt::format("elements are of type '{}'; expected '<f4' (little-endian float32)", type));
    if (header.at("fortran_order")) file.fail("the array is in Fortran order; expected C order");
    header.at("shape").get_to(shape);
  } catch (const nlohmann::json::exception &e) {
    file.fail(fmt::format("the header does not say descr, fortran_order and shape: {}", e.what()));
  }
  array_f32 array{shape, file.read_floats(count_elements(file, shape), "the array")};
  if (file.bytes_left() != 0) file.fail(fmt::format("{} bytes follow the array", file.bytes_left()));
  return array;
}

} // namespace examples

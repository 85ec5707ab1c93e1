#include "common/safetensors.hpp"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace examples {
namespace {

constexpr std::uint64_t maximum_header_bytes = 100'000'000; ///< the limit of the format's own library

} // namespace

safetensors_file::safetensors_file(const std::filesystem::path &path) : file_(path) {
  const std::uint64_t header_bytes = file_.read_unsigned(8, "the header's length");
  if (header_bytes > maximum_header_bytes)
    file_.fail(fmt::format("the header says that it takes {} bytes; at most {} are accepted", header_bytes, maximum_header_bytes));
  const auto header = nlohmann::json::parse(file_.read_text(header_bytes, "the header"), nullptr, false);
  if (!header.is_object()) file_.fail("the header is not a JSON object");
  for (const auto &[name, value] : header.items())
    if (name != "__metadata__") add_entry(name, value, 8 + header_bytes);
}

void safetensors_file::add_entry(const std::string &name, const nlohmann::json &value, std::uint64_t data_begin) try {
  const std::vector<std::uint64_t> offsets = value.at("data_offsets");
  const entry e{value.at("dtype"), value.at("shape"), data_begin + offsets.at(0), data_begin + offsets.at(1)};
  if (offsets[0] > offsets[1]) file_.fail(fmt::format("tensor '{}' ends before it begins", name));
  if (offsets[1] > file_.size() - data_begin)
    file_.fail(fmt::format("truncated: tensor '{}' ends at byte {}, and the file at {}", name, e.end, file_.size()));
  entries_.emplace(name, e);
} catch (const nlohmann::json::exception &) {
  file_.fail(fmt::format("tensor '{}' needs dtype, shape and data_offsets in the header, as text, extents and two positions", name));
} catch (const std::out_of_range &) {
  file_.fail(fmt::format("tensor '{}' needs two data_offsets", name));
}

std::vector<float> safetensors_file::read(const std::string &name, const std::vector<std::size_t> &shape) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) file_.fail(fmt::format("there is no tensor '{}' among its {}", name, entries_.size()));
  const entry &e = found->second;
  if (e.type != "F32") file_.fail(fmt::format("tensor '{}' is of type {}; expected F32", name, e.type));
  if (e.shape != shape) file_.fail(fmt::format("tensor '{}' has shape {}; expected {}", name, e.shape, shape));
  const std::uint64_t count = count_elements(file_, shape);
  if (e.end - e.begin != count * sizeof(float))
    file_.fail(fmt::format("tensor '{}' of shape {} takes {} bytes in the file; expected {}", name, shape, e.end - e.begin, count * sizeof(float)));
  file_.seek(e.begin);
  return file_.read_floats(count, fmt::format("tensor '{}'", name));
}

} // namespace examples

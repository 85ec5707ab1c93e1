// A schedule as data: a family and its parameters.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace attune {

struct schedule_point {
  std::string family;                                      ///< "decode", "tiles", "chunk", "row_tile", "running", "gpu_running"
  std::vector<std::pair<std::string, int>> parameters;     ///< in the family's own order
  std::string origin;                                      ///< "default", "table <target>/<cpu>", "shipped table <target>/<cpu>", "pinned"
  std::string why = {};                                    ///< in words, why it is the default, or a table's of another spec; empty: nothing to explain

  int at(const std::string &name) const {
    for (const auto &[key, value] : parameters)
      if (key == name) return value;
    throw std::out_of_range("schedule family " + family + " has no parameter " + name);
  }
  /// One line: "chunk query_tile=64 key_chunk=512 …". What the manifest, the hash of an artefact and the tables hold.
  std::string text() const {
    std::string t = family;
    for (const auto &[key, value] : parameters) t += " " + key + "=" + std::to_string(value);
    return t;
  }
};

} // namespace attune

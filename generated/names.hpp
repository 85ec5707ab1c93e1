// How emitted things are named after a spec struct: files, headers, symbols.
#pragma once
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// "my_app::variant" -> {"my_app", "variant"}
inline std::vector<std::string> name_parts(std::string_view spec) {
  std::vector<std::string> parts;
  while (true) {
    const auto colons = spec.find("::");
    parts.emplace_back(spec.substr(0, colons));
    if (colons == std::string_view::npos) return parts;
    spec.remove_prefix(colons + 2);
  }
}

/// The last part of a spec's name. Files of a spec bear it: <stem>.hpp, <stem>.<target>.o, <stem>.<target>.json.
inline std::string stem_of(std::string_view spec) { return name_parts(spec).back(); }

/// A name as part of a C identifier: "my_app::variant" -> "my_app_variant".
inline std::string identifier_of(std::string_view name) {
  std::string identifier;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.compare(i, 2, "::") == 0) ++i;
    identifier += std::isalnum(static_cast<unsigned char>(name[i])) ? name[i] : '_';
  }
  return identifier;
}

/// The name of a generated function, before Halide adds "_argv". The library is part of it, so that two libraries that
/// carry the same spec can be linked into one program.
inline std::string function_name(std::string_view library, std::string_view spec, std::string_view target) {
  return "attune_" + identifier_of(library) + "_" + identifier_of(spec) + "_" + std::string(target);
}

/// The function that puts Attune's hooks into a library's own Halide runtime (runtime/halide_hooks.cpp).
inline std::string install_hooks_name(std::string_view library) { return "attune_install_hooks_" + identifier_of(library); }

} // namespace attune

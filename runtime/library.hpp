// How a library of generated code makes itself known, and the register of all that this program holds. C++17.
//
// The emitter writes one registration file per library (registration, generated/header_writer.hpp): an artefact_info for
// each spec, one library_info, artefact<...>::info() for each spec, and a static object that registers the library.
//
// Every info() registers first, so that the hooks are in place before the first call even where another static object of
// the program calls a kernel while it is made.
#pragma once
#include "runtime/artefact.hpp"
#include <vector>

namespace attune {

struct library_info {
  const char *name;                       ///< as in attune_add_library
  const artefact_info *const *artefacts;
  int artefact_count;
  void (*install_hooks)();                ///< attune_install_hooks_<name>; null for a library without a Halide runtime
};

/// Installs the library's hooks and enters its artefacts. The record must live as long as the program. Safe to call from
/// several threads; the second call with the same record does nothing.
void register_library(const library_info &);

/// All artefacts, in the order of registration.
std::vector<const artefact_info *> artefacts();
/// The artefact of a spec by the name of its struct, with namespaces; null if no library has one. The first registered wins.
const artefact_info *find_artefact(const char *spec) noexcept;

} // namespace attune

// How a library of generated code makes itself known, and the register of all that this program holds. C++17.
//
// The emitter writes one registration file per library, in this form:
//
//   extern "C" void attune_install_hooks_stock();
//   namespace attune {
//   namespace {
//   constexpr artefact_info gpt2_record{"gpt2", artefact<::gpt2>::hash, artefact<::gpt2>::n, artefact<::gpt2>::call, gpt2_variants, gpt2_variant_count};
//   constexpr const artefact_info *held[] = {&gpt2_record};
//   constexpr library_info library{"stock", held, 1, attune_install_hooks_stock};
//   bool known() { static const bool once = (register_library(library), true); return once; }
//   const bool known_at_start = known();
//   } // namespace
//   const artefact_info &artefact<::gpt2>::info() { known(); return gpt2_record; }
//   } // namespace attune
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

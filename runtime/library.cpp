#include "runtime/library.hpp"
#include <algorithm>
#include <cstring>
#include <mutex>

namespace attune {
namespace {

struct registry {
  std::mutex lock;
  std::vector<const library_info *> libraries;
};
/// Never destroyed: libraries register and calls come while other static objects are made and destroyed.
registry &all() {
  static registry *const r = new registry;
  return *r;
}

} // namespace

void register_library(const library_info &library) {
  registry &r = all();
  const std::lock_guard<std::mutex> hold(r.lock);
  if (std::find(r.libraries.begin(), r.libraries.end(), &library) != r.libraries.end()) return;
  if (library.install_hooks) library.install_hooks();
  r.libraries.push_back(&library);
}

std::vector<const artefact_info *> artefacts() {
  registry &r = all();
  const std::lock_guard<std::mutex> hold(r.lock);
  std::vector<const artefact_info *> list;
  for (const library_info *l : r.libraries) list.insert(list.end(), l->artefacts, l->artefacts + l->artefact_count);
  return list;
}

const artefact_info *find_artefact(const char *spec) noexcept {
  registry &r = all();
  const std::lock_guard<std::mutex> hold(r.lock);
  for (const library_info *l : r.libraries)
    for (int i = 0; i < l->artefact_count; ++i)
      if (std::strcmp(l->artefacts[i]->spec, spec) == 0) return l->artefacts[i];
  return nullptr;
}

} // namespace attune

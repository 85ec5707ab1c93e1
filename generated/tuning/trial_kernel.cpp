#include "generated/tuning/trial_kernel.hpp"
#include "generated/emitter.hpp"
#include "schedules/build.hpp"
#include <climits>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <stdexcept>
#include <unistd.h>

namespace attune {
namespace fs = std::filesystem;

namespace {
template <class Function> Function symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) throw std::runtime_error(fmt::format("the trial library lacks {}", name));
  return reinterpret_cast<Function>(found);
}
} // namespace

int compile_trial(const operator_description &spec, const target_info &target, const schedule_point &point, const fs::path &halide_runtime, const fs::path &library) {
  const fs::path object = fs::path(library).replace_extension(".o");
  emit_trial(spec, target, point, object);
  // -Bsymbolic: the Halide runtime inside, not the one of libHalide, which generates code in the same process.
  execl(ATTUNE_CXX, ATTUNE_CXX, "-shared", "-Wl,-Bsymbolic", "-Wl,-z,noexecstack", "-o", library.c_str(), object.c_str(), halide_runtime.c_str(), ATTUNE_TRIAL_HOOKS,
        ATTUNE_TRIAL_RUNTIME, static_cast<char *>(nullptr));
  fmt::print(stderr, "cannot run {}: {}\n", ATTUNE_CXX, std::strerror(errno));
  return 1;
}

trial_kernel::trial_kernel(const operator_description &spec, const target_info &target, const schedule_point &point, const fs::path &library)
    : name_(spec.name), hash_(spec_hash(spec)), schedule_(point.text()) {
  void *loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loaded) throw std::runtime_error(dlerror());
  symbol<void (*)()>(loaded, "attune_install_hooks_trial")();
  const bool packs = is_projected(spec.n);
  kernel_ = {INT_MAX, INT_MAX, symbol<generated_function>(loaded, trial_function), schedule_.c_str()};
  variant_ = {target.id, &kernel_, 1, packs ? symbol<generated_function>(loaded, trial_pack_function) : nullptr, panel_lanes(spec, target)};
  info_ = {name_.c_str(), hash_.c_str(), spec.n, spec.call(), &variant_, 1};
}

} // namespace attune

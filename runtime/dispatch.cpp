#include "runtime/dispatch.hpp"
#include "runtime/library.hpp"
#include "runtime/machine.hpp"
#include <atomic>
#include <cstdlib>

namespace attune {
namespace {

constexpr int no_default = -1;
std::atomic<int> process_default{no_default};

/// The value of ATTUNE_TARGET when it was first needed; null: not set.
const char *environment_target() {
  static const std::string *const value = [] {
    const char *text = std::getenv("ATTUNE_TARGET");
    return text && *text ? new std::string(text) : nullptr;
  }();
  return value ? value->c_str() : nullptr;
}

const artefact_variant *find_variant(const artefact_info &a, target_id id) {
  for (int i = 0; i < a.variant_count; ++i)
    if (a.variants[i].target == id) return &a.variants[i];
  return nullptr;
}

std::string names_in_build(const artefact_info &a) {
  std::string names;
  for (int i = 0; i < a.variant_count; ++i) names += (i ? ", " : "") + std::string(info_of(a.variants[i].target).name);
  return names.empty() ? "none" : names;
}

/// `origin` says who asked: "the call's options", "ATTUNE_TARGET" ...
chosen_variant choose_named(const artefact_info &a, target_id id, const char *origin) {
  const target_info &t = info_of(id);
  const artefact_variant *v = find_variant(a, id);
  if (!v)
    return {nullptr, failure(error_code::unknown_target, "%s: target %s (from %s) is not in this build. Its targets are: %s.", a.spec, t.name, origin, names_in_build(a).c_str())};
  const std::string &missing = missing_for(id);
  if (!missing.empty())
    return {nullptr, failure(error_code::unknown_target, "%s: target %s (from %s) cannot run here: this machine lacks %s. It needs %s.", a.spec, t.name, origin, missing.c_str(), t.needs)};
  return {v, {}};
}

chosen_variant choose_best(const artefact_info &a) {
  for (int i = target_count - 1; i >= 0; --i) {
    if (all_targets[i].device != device_kind::cpu) continue;
    const artefact_variant *v = find_variant(a, all_targets[i].id);
    if (v && missing_for(v->target).empty()) return {v, {}};
  }
  std::string needs;
  for (int i = 0; i < a.variant_count; ++i) {
    const target_info &t = info_of(a.variants[i].target);
    needs += (i ? "; " : "") + std::string(t.name) + " needs " + t.needs + (t.device == device_kind::cpu ? "" : " and must be asked for by name");
  }
  return {nullptr, failure(error_code::no_usable_target, "%s: this machine can run none of the targets in this build: %s.", a.spec, needs.empty() ? "there are none" : needs.c_str())};
}

template <class InBuild> std::vector<target_report> report(InBuild in_build) {
  std::vector<target_report> all;
  for (const target_info &t : all_targets) {
    const std::string &missing = missing_for(t.id);
    all.push_back({t.id, in_build(t.id), missing.empty(), missing.empty() ? "" : "this machine lacks " + missing});
  }
  return all;
}

} // namespace

void set_default_target(std::optional<target_id> id) noexcept { process_default = id ? static_cast<int>(*id) : no_default; }

chosen_variant choose_variant(const artefact_info &a, std::optional<target_id> forced) noexcept try {
  if (forced) return choose_named(a, *forced, "the call's options");
  if (const int id = process_default; id != no_default) return choose_named(a, static_cast<target_id>(id), "set_default_target");
  const char *name = environment_target();
  if (!name) return choose_best(a);
  if (const target_info *t = find_target(name)) return choose_named(a, t->id, "ATTUNE_TARGET");
  return {nullptr, failure(error_code::unknown_target, "%s: ATTUNE_TARGET says \"%s\", which is no target. The targets in this build are: %s.", a.spec, name, names_in_build(a).c_str())};
} catch (...) { // only texts allocate
  return {nullptr, failure(error_code::out_of_memory, "%s: no memory to say why no target was chosen.", a.spec)};
}

const artefact_kernel &choose_kernel(const artefact_variant &v, std::int64_t queries, std::int64_t keys) noexcept {
  const artefact_kernel *k = v.kernels, *const last = v.kernels + v.kernel_count - 1;
  while (k != last && (queries > k->max_queries || keys > k->max_keys)) ++k;
  return *k;
}

std::vector<target_report> targets(const artefact_info &a) {
  return report([&](target_id id) { return find_variant(a, id) != nullptr; });
}

std::vector<target_report> machine_targets() {
  return report([](target_id id) {
    for (const artefact_info *a : artefacts())
      if (find_variant(*a, id)) return true;
    return false;
  });
}

} // namespace attune

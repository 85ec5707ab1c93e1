#include "runtime/c_abi.h"
#include "runtime/axis_order.hpp"
#include "runtime/c_abi_text.hpp"
#include "runtime/cache.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/dl_tensor.hpp"
#include "runtime/edit_distance.hpp"
#include "runtime/library.hpp"
#include "runtime/memory.hpp"
#include "runtime/merge.hpp"
#include "runtime/weights.hpp"
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct attune_packed_weights {
  attune::detail::packed_memory memory;
};

namespace attune {
namespace {

int report(const status &s, char *message, std::size_t size) {
  if (message && size > 0) {
    const std::size_t length = std::min(std::strlen(s.message()), size - 1);
    std::memcpy(message, s.message(), length);
    message[length] = 0;
  }
  return static_cast<int>(s.code);
}

/// Runs a function that returns a status; what it throws can only be want of memory for a text.
template <class Body> int guarded(char *message, std::size_t size, Body body) noexcept {
  try {
    return report(body(), message, size);
  } catch (...) {
    return report(failure(error_code::out_of_memory, "There was no memory to prepare the call."), message, size);
  }
}

/// `from` says where the name was given; no name, no target.
status read_target(const char *from, const char *name, std::optional<target_id> &id) {
  if (!name) return {};
  if (const target_info *t = find_target(name)) {
    id = t->id;
    return {};
  }
  std::string names;
  for (const target_info &known : all_targets) names += (names.empty() ? "" : ", ") + std::string(known.name);
  return failure(error_code::unknown_target, "%s: there is no target \"%s\". There are: %s.", from, name, names.c_str());
}

status read_options(const attune_options *given, call_options &options) {
  if (!given) return {};
  constexpr std::size_t least = offsetof(attune_options, threads); // what the first caller could know
  if (given->size < least)
    return failure(error_code::bad_option, "options: size is %zu, expected sizeof(attune_options), %zu here. Set it before the call, or pass NULL for all defaults.", given->size,
                   sizeof(attune_options));
  attune_options o = {};
  std::memcpy(&o, given, std::min(given->size, sizeof o)); // a caller compiled with an older header knows fewer members
  if (status s = read_target("options", o.target, options.target); !s) return s;
  options.threads = o.threads;
  options.pool = {o.pool_self, o.pool_run};
  options.memory = {o.memory_self, o.memory_allocate, o.memory_release};
  options.cuda_context = o.cuda_context;
  options.cuda_stream = o.cuda_stream;
  return {};
}

/// Puts the named arguments into the order of a list of names. `take(place, argument)` reads one.
template <class Named, class NameAt, class Take>
status by_name(const char *spec, const char *what, const Named *given, std::size_t given_count, int count, NameAt name_at, Take take) {
  bool seen[maximum_tensors] = {};
  if (!given && given_count > 0) return failure(error_code::wrong_count, "%s: %zu %ss were announced, but the list of them is NULL.", spec, given_count, what);
  for (std::size_t g = 0; g < given_count; ++g) {
    if (!given[g].name) return failure(error_code::unknown_name, "%s: the name of %s number %zu is NULL.", spec, what, g + 1);
    int place = 0;
    while (place < count && std::strcmp(name_at(place), given[g].name) != 0) ++place;
    if (place == count) {
      std::string names;
      for (int i = 0; i < count; ++i) names += (i ? ", " : "") + std::string(name_at(i));
      return failure(error_code::unknown_name, "%s: there is no %s \"%s\". There are: %s.", spec, what, given[g].name, count ? names.c_str() : "none");
    }
    if (std::exchange(seen[place], true)) return failure(error_code::wrong_count, "%s: %s %s was passed twice.", spec, what, given[g].name);
    if (status s = take(place, given[g]); !s) return s;
  }
  return {};
}

/// The spec whose name is nearest to this one, compared without namespaces, if at most a third of its letters is wrong.
const artefact_info *near_spec(std::string_view name, const std::vector<const artefact_info *> &specs) {
  const auto bare = [](std::string_view s) { return s.substr(s.rfind(':') + 1); }; // npos + 1 is 0
  const artefact_info *best = nullptr;
  int fewest = static_cast<int>(bare(name).size()) / 3 + 1;
  for (const artefact_info *a : specs) {
    const int edits = edit_distance(bare(name), bare(a->spec));
    if (edits < fewest) best = a, fewest = edits;
  }
  return best;
}

status find(const char *spec, const artefact_info *&a) {
  if (!spec) return failure(error_code::unknown_spec, "The name of the spec was passed as NULL. attune_specs lists the names.");
  a = find_artefact(spec);
  if (a) return {};
  const std::vector<const artefact_info *> specs = artefacts();
  if (const artefact_info *near = near_spec(spec, specs))
    return failure(error_code::unknown_spec, "There is no spec \"%s\". Did you mean \"%s\"? attune_specs lists all %zu.", spec, near->spec, specs.size());
  std::string names;
  for (const artefact_info *known : specs) names += (names.empty() ? "" : ", ") + std::string(known->spec);
  return failure(error_code::unknown_spec, "There is no spec \"%s\". There are: %s.", spec, names.empty() ? "none" : names.c_str());
}

/// The arguments of a call in the order of the signature.
struct ordered_arguments {
  tensor_ref tensors[maximum_tensors];
  packed_weights_ref weights;
  double numbers[maximum_numbers] = {};

  status read_tensors(const artefact_info &a, const attune_named_tensor *given, std::size_t count) {
    bool seen[maximum_tensors] = {};
    const status s = by_name(a.spec, "tensor", given, count, a.call.tensor_count, [&](int i) { return a.call.tensors[i].name; }, [&](int i, const attune_named_tensor &t) {
      seen[i] = true;
      if (a.call.tensors[i].role == tensor_role::packed_weights) return read_weights(a, t, tensors[i]);
      if (!t.tensor) return failure(error_code::missing_tensor, "%s: tensor %s was passed as NULL.", a.spec, t.name);
      return read_tensor(a.spec, in_layout(a.call.tensors[i], a.n.layout), *t.tensor, tensors[i]);
    });
    if (!s) return s;
    for (int i = 0; i < a.call.tensor_count; ++i) {
      const tensor_shape &shape = a.call.tensors[i];
      if (seen[i]) continue;
      if (shape.role == tensor_role::packed_weights)
        return failure(error_code::missing_tensor, "%s: tensor %s was not passed. Make it once with attune_pack_weights and pass it to every call.", a.spec, shape.name);
      return failure(error_code::missing_tensor, "%s: tensor %s was not passed. Its axes are %s.", a.spec, shape.name, axes_text(in_layout(shape, a.n.layout)).c_str());
    }
    return {};
  }
  status read_weights(const artefact_info &a, const attune_named_tensor &t, tensor_ref &r) {
    if (!t.weights) return failure(error_code::missing_tensor, "%s: tensor %s takes packed weights, made by attune_pack_weights.", a.spec, t.name);
    weights = t.weights->memory.ref;
    r.data = &weights;
    return {};
  }
  status read_numbers(const artefact_info &a, const attune_named_number *given, std::size_t count) {
    bool seen[maximum_numbers] = {};
    const status s = by_name(a.spec, "number", given, count, a.call.number_count, [&](int i) { return name_of(a.call.call_numbers[i]); },
                             [&](int i, const attune_named_number &x) {
                               seen[i] = true;
                               numbers[i] = x.value;
                               return status{};
                             });
    if (!s) return s;
    for (int i = 0; i < a.call.number_count; ++i)
      if (!seen[i]) return failure(error_code::wrong_count, "%s: number %s was not passed, and the spec leaves it to each call.", a.spec, name_of(a.call.call_numbers[i]));
    return {};
  }
};

status call_by_name(const char *spec, const attune_named_tensor *tensors, std::size_t tensor_count, const attune_named_number *numbers, std::size_t number_count,
                    const attune_options *given) {
  const artefact_info *a = nullptr;
  if (status s = find(spec, a); !s) return s;
  call_options options;
  if (status s = read_options(given, options); !s) return s;
  ordered_arguments list;
  if (status s = list.read_tensors(*a, tensors, tensor_count); !s) return s;
  if (status s = list.read_numbers(*a, numbers, number_count); !s) return s;
  return call(*a, list.tensors, a->call.tensor_count, list.numbers, a->call.number_count, options);
}

/// A tensor of an append: its shape in the spec's layout, and where it goes.
struct append_tensor {
  tensor_shape shape;
  any_tensor *to;
  bool needed;
};

status append_by_name(const char *spec, const attune_named_tensor *given, std::size_t count) {
  const artefact_info *a = nullptr;
  if (status s = find(spec, a); !s) return s;
  const numbers &n = a->n;
  if (is_projected(n)) return failure(error_code::unknown_spec, "%s: keys and values of this spec are projected in the call, and there is no cache to append to.", a->spec);
  kv_cache cache;
  any_tensor new_key, new_value, new_lengths;
  const auto added = [&](const char *name, tensor_role role, axis_name dim) {
    return tensor_shape{name, role, element_type::f32, false, true, 4, {{axis_name::batch}, {axis_name::kv_head}, {axis_name::query}, {dim}}};
  };
  const auto per_batch = [](const char *name) { return tensor_shape{name, tensor_role::key_lengths, element_type::i32, true, false, 1, {{axis_name::batch}}}; };
  const bool scaled = n.cache.scale != kv_scaling::off;
  const append_tensor list[] = {
      {kv_shape(n, "key", tensor_role::key, axis_name::head_dim), &cache.key, true},
      {kv_shape(n, "value", tensor_role::value, axis_name::value_dim), &cache.value, true},
      {per_batch("key_lengths"), &cache.key_lengths, true},
      {added("new_key", tensor_role::key, axis_name::head_dim), &new_key, true},
      {added("new_value", tensor_role::value, axis_name::value_dim), &new_value, true},
      {per_batch("new_lengths"), &new_lengths, false},
      {kv_scale_shape(n, "key_scale", tensor_role::key_scale), &cache.key_scale, scaled},
      {kv_scale_shape(n, "value_scale", tensor_role::value_scale), &cache.value_scale, scaled},
      {{"page_table", tensor_role::page_table, element_type::i32, false, false, 2, {{axis_name::batch}, {axis_name::sequence_page}}}, &cache.page_table, is_paged(n)},
  };
  const int all = static_cast<int>(sizeof list / sizeof list[0]);
  const status s = by_name(a->spec, "tensor", given, count, all, [&](int i) { return list[i].shape.name; }, [&](int i, const attune_named_tensor &t) {
    if (!t.tensor) return failure(error_code::missing_tensor, "%s: tensor %s was passed as NULL.", a->spec, t.name);
    if (!list[i].needed && list[i].to != &new_lengths) return failure(error_code::wrong_count, "%s: the spec has no %s. Leave it out.", a->spec, t.name);
    const tensor_shape shape = in_layout(list[i].shape, n.layout);
    if (status read = read_tensor(a->spec, shape, *t.tensor, *list[i].to); !read) return read;
    if (i < 2 && list[i].to->element != shape.element)
      return failure(error_code::wrong_element, "%s: tensor %s: expected %s elements, got %s.", a->spec, shape.name, name_of(shape.element), name_of(list[i].to->element));
    return status{};
  });
  if (!s) return s;
  for (const append_tensor &t : list)
    if (t.needed && t.to->rank == 0) return failure(error_code::missing_tensor, "%s: tensor %s was not passed; appending needs it. Its axes are %s.", a->spec, t.shape.name, axes_text(in_layout(t.shape, n.layout)).c_str());
  return try_append(cache, new_key, new_value, new_lengths);
}

status pack_by_name(const char *spec, const attune_named_tensor *given, std::size_t count, const attune_options *given_options, attune_packed_weights **packed) {
  const artefact_info *a = nullptr;
  if (status s = find(spec, a); !s) return s;
  call_options options;
  if (status s = read_options(given_options, options); !s) return s;
  weight_refs refs;
  const auto shape = [&](int i) { return weight_shape(a->n, static_cast<projection>(i % 4), i >= 4); };
  const status s = by_name(spec, "weight", given, count, 8, [&](int i) { return shape(i).name; }, [&](int i, const attune_named_tensor &t) {
    if (!t.tensor) return failure(error_code::missing_tensor, "%s: weight %s was passed as NULL.", spec, t.name);
    if (shape(i).rank == 0) return failure(error_code::wrong_count, "%s: the spec has no %s. Leave it out.", spec, t.name);
    return read_tensor(spec, shape(i), *t.tensor, i < 4 ? refs.matrices[i] : refs.biases[i - 4]);
  });
  if (!s) return s;
  detail::packed_memory memory;
  if (status t = pack_weights(*a, refs, options, memory); !t) return t;
  *packed = new attune_packed_weights{std::move(memory)};
  return {};
}

status merge_tensors(const attune_merge_part *parts, std::size_t count, const attune_merge_part &whole) {
  if (!parts && count > 0) return failure(error_code::wrong_count, "attune_merge: %zu parts were announced, but the list of them is NULL.", count);
  const tensor_shape output{"output", tensor_role::output, element_type::f32, true, false, 4, {{axis_name::batch}, {axis_name::head}, {axis_name::query}, {axis_name::value_dim}}};
  const tensor_shape lse{"lse", tensor_role::lse, element_type::f32, true, false, 3, {{axis_name::batch}, {axis_name::head}, {axis_name::query}}};
  const auto read = [&](const attune_merge_part &from, const std::string &where, partial_result &to) {
    if (!from.output || !from.lse) return failure(error_code::missing_tensor, "%s: a result is two tensors, output and lse; one was passed as NULL.", where.c_str());
    if (status s = read_tensor(where.c_str(), output, *from.output, to.output); !s) return s;
    return read_tensor(where.c_str(), lse, *from.lse, to.lse);
  };
  partial_result result;
  std::vector<partial_result> read_parts(count);
  if (status s = read(whole, "attune_merge", result); !s) return s;
  for (std::size_t i = 0; i < count; ++i)
    if (status s = read(parts[i], "attune_merge, part " + std::to_string(i + 1), read_parts[i]); !s) return s;
  return try_merge(read_parts.data(), count, result);
}

/// Copies the text that `make` returns; no memory and no such spec both give 0.
template <class Make> std::size_t copy_text(char *text, std::size_t size, Make make) noexcept {
  try {
    const std::string whole = make();
    if (whole.empty()) return 0;
    if (text && size > 0) {
      const std::size_t length = std::min(whole.size(), size - 1);
      std::memcpy(text, whole.data(), length);
      text[length] = 0;
    }
    return whole.size() + 1;
  } catch (...) {
    return 0;
  }
}

} // namespace
} // namespace attune

using namespace attune;

int attune_call(const char *spec, const attune_named_tensor *tensors, size_t tensor_count, const attune_named_number *numbers, size_t number_count,
                const attune_options *options, char *message, size_t message_size) {
  return guarded(message, message_size, [&] { return call_by_name(spec, tensors, tensor_count, numbers, number_count, options); });
}

int attune_pack_weights(const char *spec, const attune_named_tensor *weights, size_t count, const attune_options *options, attune_packed_weights **packed, char *message,
                        size_t message_size) {
  if (!packed) return guarded(message, message_size, [] { return failure(error_code::missing_tensor, "attune_pack_weights: there is no place for the packed weights (NULL)."); });
  *packed = nullptr;
  return guarded(message, message_size, [&] { return pack_by_name(spec, weights, count, options, packed); });
}
int attune_append(const char *spec, const attune_named_tensor *tensors, size_t count, char *message, size_t message_size) {
  return guarded(message, message_size, [&] { return append_by_name(spec, tensors, count); });
}

void attune_free_weights(attune_packed_weights *packed) { delete packed; }

int attune_merge(const attune_merge_part *parts, size_t count, const attune_dl_tensor *output, const attune_dl_tensor *lse, char *message, size_t message_size) {
  return guarded(message, message_size, [&] { return merge_tensors(parts, count, {output, lse}); });
}

const char *attune_error_name(int code) {
  const bool known = code >= 0 && code <= static_cast<int>(error_code::kernel_failed);
  return known ? name_of(static_cast<error_code>(code)) : "unknown";
}

size_t attune_specs(const char **names, size_t capacity) {
  try {
    const std::vector<const artefact_info *> all = artefacts();
    for (std::size_t i = 0; i < all.size() && i < capacity; ++i) names[i] = all[i]->spec;
    return all.size();
  } catch (...) {
    return 0;
  }
}

size_t attune_spec_text(const char *spec, char *text, size_t size) {
  return copy_text(text, size, [&] {
    const artefact_info *a = spec ? find_artefact(spec) : nullptr;
    return a ? spec_json(*a) : std::string();
  });
}
size_t attune_targets(const char *spec, char *text, size_t size) {
  return copy_text(text, size, [&] {
    const artefact_info *a = spec ? find_artefact(spec) : nullptr;
    if (spec && !a) return std::string();
    return targets_json(a ? targets(*a) : machine_targets());
  });
}

int attune_set_default_target(const char *target, char *message, size_t message_size) {
  return guarded(message, message_size, [&] {
    std::optional<target_id> id;
    status s = read_target("attune_set_default_target", target, id);
    if (s) set_default_target(id);
    return s;
  });
}

size_t attune_workspace_bytes(void) { return workspace_bytes(); }
void attune_release_workspace(void) { release_workspace(); }

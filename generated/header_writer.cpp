#include "generated/header_writer.hpp"
#include "dsl/targets.hpp"
#include "generated/names.hpp"
#include <algorithm>
#include <fmt/format.h>

namespace attune {
namespace {

std::string literal(const char *text) { return fmt::format("\"{}\"", text); }
std::string literal(bool b) { return b ? "true" : "false"; }
std::string literal(element_type e) { return fmt::format("element_type::{}", e == element_type::boolean ? "boolean" : name_of(e)); }
std::string literal(axis_name a) { return fmt::format("axis_name::{}", name_of(a)); }

std::string literal(source_kind s) {
  constexpr const char *names[] = {"operands", "projection", "cross_projection"};
  return fmt::format("source_kind::{}", names[static_cast<int>(s)]);
}

std::string literal(tensor_role r) {
  constexpr const char *names[] = {"query", "key", "value", "hidden", "context", "packed_weights", "output", "lse",
                                   "attention_weights", "input", "boolean_mask", "additive_mask", "key_lengths", "key_scale", "value_scale", "page_table", "prefix_lengths", "query_offsets", "key_offsets",
                                   "position_offsets", "cos_table", "sin_table", "sinks", "scaled_scores", "capped_scores", "masked_scores"};
  return fmt::format("tensor_role::{}", names[static_cast<int>(r)]);
}

std::string literal(const setting &s) {
  constexpr const char *kinds[] = {"off", "fixed", "at_call"};
  return fmt::format("{{setting::{}, {}}}", kinds[s.kind], s.value); // fmt prints the shortest text that reads back exactly
}

std::string literal(const numbers &n) {
  std::string text;
  const auto member = [&text](const std::string &value, const char *what) { text += fmt::format("\n      {}, // {}", value, what); };
  member(literal(n.element), "element");
  member(literal(n.source), "source");
  member(fmt::format("{}, {}", n.heads, n.kv_heads), "heads, kv_heads");
  member(fmt::format("{}, {}", n.head_dim, n.value_dim), "head_dim, value_dim");
  member(fmt::format("{}, {}, {}", n.model_dim, n.context_dim, n.output_dim), "model_dim, context_dim, output_dim");
  member(fmt::format("{}, {}", n.projection_bias, n.output_bias), "projection_bias, output_bias");
  member(literal(n.same_extents), "same_extents");
  member(literal(n.scale), "scale");
  member(literal(n.softcap), "softcap");
  member(fmt::format("causal_alignment::{}", name_of(n.causal)), "causal");
  member(literal(n.window), "window");
  member(literal(n.key_lengths), "key_lengths");
  member(fmt::format("empty_row_policy::{}", name_of(n.empty_rows)), "empty_rows");
  member(fmt::format("masked_value_policy::{}", name_of(n.masked_values)), "masked_values");
  member(fmt::format("tensor_layout::{}", name_of(n.layout)), "layout");
  member(fmt::format("{}, {}", n.returns_lse, n.returns_weights), "returns_lse, returns_weights");
  member(fmt::format("{{{}, {}, kv_scaling::{}, {}}}", n.cache.own_element, literal(n.cache.element), name_of(n.cache.scale), n.cache.page_size),
         "cache: own_element, element, scale, page_size");
  member(literal(n.window_right), "window_right");
  member(fmt::format("{}, {}, {}", n.query_block, n.key_block, n.bias_buckets), "query_block, key_block, bias_buckets");
  const rotary_embedding &r = n.rope;
  member(fmt::format("{{{}, {}, rotary_pairing::{}, {}, {}, {}}}", r.dims, r.theta, name_of(r.pairing), r.angle_tables, r.position_offsets, r.keys_rotated), "rope");
  member(fmt::format("{}", n.sinusoidal_theta), "sinusoidal_theta");
  member(literal(n.sinks), "sinks");
  member(fmt::format("weighting::{}", name_of(n.weights)), "weights");
  member(literal(n.sigmoid_bias), "sigmoid_bias");
  member(fmt::format("{}, {}, {}", n.returns_scaled_scores, n.returns_capped_scores, n.returns_masked_scores), "returns_scaled_scores, returns_capped_scores, returns_masked_scores");
  return text;
}

std::string literal(const tensor_shape &t) {
  std::string axes;
  for (int a = 0; a < t.rank; ++a)
    axes += fmt::format("{}{{{}, {}}}", a ? ", " : "", literal(t.axes[a].axis),
                        t.axes[a].extent == dynamic_extent ? "dynamic_extent" : std::to_string(t.axes[a].extent));
  return fmt::format("{{{}, {}, {}, {}, {}, {}, {{{}}}}}", literal(t.name), literal(t.role), literal(t.element), t.written,
                     t.innermost_contiguous, t.rank, axes);
}

std::string literal(const signature &s) {
  std::string tensors, call_numbers;
  for (int i = 0; i < s.tensor_count; ++i) tensors += fmt::format("\n       {}{}", literal(s.tensors[i]), i + 1 < s.tensor_count ? "," : "");
  for (int i = 0; i < s.number_count; ++i) call_numbers += fmt::format("{}number_role::{}", i ? ", " : "", name_of(s.call_numbers[i]));
  return fmt::format("\n      {}, {{ // tensors: name, role, element, written, innermost_contiguous, rank, axes{}}},\n      {}, {{{}}}", s.tensor_count,
                     tensors, s.number_count, call_numbers);
}

/// A call's arguments for whoever writes one: a line each.
std::string arguments_comment(const std::string &spec, const signature &s) {
  std::string text = fmt::format("// attune::kernel<{}>{{}}(...) takes views of these tensors, and numbers, in this order:\n", spec);
  for (int i = 0; i < s.tensor_count; ++i) {
    const tensor_shape &t = s.tensors[i];
    if (t.role == tensor_role::packed_weights) {
      text += "//   weights: what attune::pack_weights returned\n";
      continue;
    }
    std::string axes;
    for (int a = 0; a < t.rank; ++a)
      axes += fmt::format("{}{}{}", a ? ", " : "", name_of(t.axes[a].axis), t.axes[a].extent == dynamic_extent ? "" : fmt::format(" {}", t.axes[a].extent));
    text += fmt::format("//   {}{} [{}] {}\n", t.name, t.written ? " (written):" : ":", axes, name_of(t.element));
  }
  for (int i = 0; i < s.number_count; ++i) text += fmt::format("//   {}: a number\n", name_of(s.call_numbers[i]));
  return text;
}

/// The arguments' names, by which compilers name those that a call leaves out.
std::string argument_names(const signature &s) {
  std::vector<std::string> names;
  for (int i = 0; i < s.tensor_count; ++i) names.push_back(identifier_of(s.tensors[i].name));
  for (int i = 0; i < s.number_count; ++i) names.push_back(name_of(s.call_numbers[i]));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "my_app::variant" -> "namespace my_app { struct variant; }"
std::string forward_declaration(const std::string &spec) {
  const auto parts = name_parts(spec);
  if (parts.size() == 1) return fmt::format("struct {};", spec);
  const std::string where = spec.substr(0, spec.size() - parts.back().size() - 2);
  return fmt::format("namespace {} {{ struct {}; }}", where, parts.back());
}

/// The manifests whose kernels an object for this machine holds.
std::vector<manifest> carried_on(const registered_spec &r, architecture host) {
  std::vector<manifest> carried;
  for (const manifest &m : r.manifests)
    if (m.refused.empty() && find_target(m.target)->host == host) carried.push_back(m);
  return carried;
}

bool asked_for(const std::vector<registered_spec> &specs, architecture host) {
  for (const registered_spec &r : specs)
    for (const manifest &m : r.manifests)
      if (find_target(m.target)->host == host) return true;
  return false;
}

std::string limit_text(int limit) { return limit == INT_MAX ? "INT_MAX" : std::to_string(limit); }

/// The rows of a variant's kernels: one per bucket, in the order in which a call looks, without those whose calls
/// fall to the same function in a later row.
std::vector<std::string> kernel_rows(const numbers &n, const manifest &m) {
  struct row {
    length_limits limits;
    const emitted_kernel *kernel;
  };
  std::vector<row> rows; // the last one first
  const length_buckets buckets = buckets_of(n);
  for (int i = buckets.count - 1; i >= 0; --i) {
    const auto takes = [&](const emitted_kernel &k) { return std::count(k.buckets.begin(), k.buckets.end(), buckets.list[i]) > 0; };
    const emitted_kernel *kernel = &*std::find_if(m.kernels.begin(), m.kernels.end(), takes);
    const length_limits limits = limits_of(n, buckets.list[i]);
    const auto next = std::find_if(rows.rbegin(), rows.rend(), [&](const row &r) { return r.limits.hold(limits.queries, limits.keys); });
    if (next == rows.rend() || next->kernel != kernel) rows.push_back({limits, kernel});
  }
  std::vector<std::string> text;
  for (auto r = rows.rbegin(); r != rows.rend(); ++r)
    text.push_back(fmt::format("    {{{}, {}, {}, \"{}\"}},\n", limit_text(r->limits.queries), limit_text(r->limits.keys), r->kernel->run, r->kernel->schedule.text()));
  return text;
}

/// For one machine: the generated functions, each spec's variants with their kernels (none: a null array) and the library's hooks.
std::string machine_part(const std::vector<registered_spec> &specs, const std::string &library, architecture host) {
  std::string functions, arrays;
  for (const registered_spec &r : specs) {
    const std::string name = identifier_of(r.spec.name);
    const std::vector<manifest> carried = carried_on(r, host);
    std::string rows;
    for (const manifest &m : carried) {
      for (const emitted_kernel &k : m.kernels) functions += fmt::format("int {}(void **);\n", k.run);
      if (!m.pack.empty()) functions += fmt::format("int {}(void **);\n", m.pack);
      const std::vector<std::string> kernels = kernel_rows(r.spec.n, m);
      arrays += fmt::format("constexpr artefact_kernel {}_{}_kernels[] = {{ // max_queries, max_keys, run, schedule\n{}}};\n", name, m.target, fmt::join(kernels, ""));
      rows += fmt::format("    {{target_id::{1}, {0}_{1}_kernels, {2}, {3}, {4}}},\n", name, m.target, kernels.size(), m.pack.empty() ? "nullptr" : m.pack, m.panel_lanes);
    }
    arrays += carried.empty() ? fmt::format("constexpr const artefact_variant *{}_variants = nullptr;\n", name)
                              : fmt::format("constexpr artefact_variant {}_variants[] = {{\n{}}};\n", name, rows);
    arrays += fmt::format("constexpr int {}_variant_count = {};\n", name, carried.size());
  }
  std::string hooks = "nullptr";
  if (asked_for(specs, host)) {
    hooks = install_hooks_name(library);
    functions += fmt::format("void {}();\n", hooks);
  }
  return fmt::format("extern \"C\" {{\n{}}}\n\nnamespace attune {{\nnamespace {{\n{}constexpr void (*install_hooks)() = {};\n}} // namespace\n}} // namespace attune\n",
                     functions, arrays, hooks);
}
} // namespace

std::string typed_header(const operator_description &spec, const std::string &library) {
  return fmt::format(R"(// Emitted by Attune {version} for library {library}: what the compiler knows of {spec}. Not to be edited.
{arguments}#pragma once
#include "runtime/artefact.hpp"

{declaration}

namespace attune {{

template <> struct artefact<::{spec}> {{
  static constexpr numbers n{{{numbers}
  }};
  static constexpr signature call{{{signature}}};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // beside dsl/spec.hpp some of these names are also properties
  enum class argument {{ {names} }};
#pragma GCC diagnostic pop
  static constexpr const char *hash = "{hash}";
  static const artefact_info &info();
}};

}} // namespace attune
)",
                     fmt::arg("version", ATTUNE_VERSION), fmt::arg("library", library), fmt::arg("spec", spec.name),
                     fmt::arg("declaration", forward_declaration(spec.name)), fmt::arg("numbers", literal(spec.n)),
                     fmt::arg("arguments", arguments_comment(spec.name, spec.call())),
                     fmt::arg("signature", literal(spec.call())), fmt::arg("names", argument_names(spec.call())), fmt::arg("hash", spec_hash(spec)));
}

std::string registration(const std::vector<registered_spec> &specs, const std::string &library) {
  std::string includes, records, list, infos;
  for (const registered_spec &r : specs) {
    const std::string name = identifier_of(r.spec.name);
    includes += fmt::format("#include \"{}/{}.hpp\"\n", library, stem_of(r.spec.name));
    records += fmt::format("constexpr artefact_info {0}_info{{\"{1}\", artefact<::{1}>::hash, artefact<::{1}>::n, artefact<::{1}>::call, {0}_variants, {0}_variant_count}};\n", name, r.spec.name);
    list += fmt::format("{}&{}_info", list.empty() ? "" : ", ", name);
    infos += fmt::format("[[gnu::weak]] const artefact_info &artefact<::{}>::info() {{\n  static const artefact_info &it = (register_library(library), {}_info);\n  return it;\n}}\n", r.spec.name, name);
  }
  return fmt::format(R"(// Emitted by Attune {version} for library {library}: which kernels it holds. Not to be edited.
{includes}#include "runtime/library.hpp"
#include <climits>

#if defined(__x86_64__)
{x86_64}#elif defined(__aarch64__)
{aarch64}#else
#error "this library has kernels for x86-64 and AArch64 only"
#endif

namespace attune {{
namespace {{
{records}constexpr const artefact_info *every[] = {{{list}}};
constexpr library_info library{{"{library}", every, {count}, install_hooks}};
const bool registered = (register_library(library), true);
}} // namespace

// Weak: a program may link two libraries that hold the same spec.
{infos}}} // namespace attune
)",
                     fmt::arg("version", ATTUNE_VERSION), fmt::arg("library", library), fmt::arg("includes", includes),
                     fmt::arg("x86_64", machine_part(specs, library, architecture::x86_64)),
                     fmt::arg("aarch64", machine_part(specs, library, architecture::aarch64)), fmt::arg("records", records), fmt::arg("list", list),
                     fmt::arg("count", specs.size()), fmt::arg("infos", infos));
}

} // namespace attune

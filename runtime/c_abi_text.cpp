#include "runtime/c_abi_text.hpp"
#include "runtime/axis_order.hpp"
#include "runtime/weights.hpp"
#include <climits>
#include <string_view>

namespace attune {
namespace {

// ---- JSON. Names are identifiers and texts of our own: only quotation marks and backslashes need an escape.
std::string quoted(std::string_view text) {
  std::string q = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') q += '\\';
    q += c;
  }
  return q + "\"";
}
template <class Item> std::string list_of(int count, Item item) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) text += (i ? ", " : "") + item(i);
  return text + "]";
}
std::string truth(bool b) { return b ? "true" : "false"; }

std::string shape_json(const tensor_shape &s) {
  return "{\"name\": " + quoted(s.name) + ", \"element\": " + quoted(name_of(s.element)) + ", \"written\": " + truth(s.written) +
         ", \"axes\": " + list_of(s.rank, [&](int a) { return quoted(name_of(s.axes[a].axis)); }) +
         ", \"extents\": " + list_of(s.rank, [&](int a) { return std::to_string(s.axes[a].extent); }) + "}";
}

std::string weights_json(const artefact_info &a) {
  std::string text;
  for (int i = 0; i < 8; ++i) {
    tensor_shape s = weight_shape(a.n, static_cast<projection>(i % 4), i >= 4);
    s.element = a.n.element;
    if (s.rank > 0) text += (text.empty() ? "" : ", ") + shape_json(s);
  }
  return "[" + text + "]";
}

std::string kernel_json(const artefact_kernel &k) {
  const auto limit = [](int most) { return most == INT_MAX ? std::string("null") : std::to_string(most); };
  return "{\"max_queries\": " + limit(k.max_queries) + ", \"max_keys\": " + limit(k.max_keys) + ", \"schedule\": " + quoted(k.schedule) + "}";
}

std::string variant_json(const artefact_variant &v) {
  return "{\"target\": " + quoted(info_of(v.target).name) + ", \"kernels\": " + list_of(v.kernel_count, [&](int i) { return kernel_json(v.kernels[i]); }) + "}";
}

} // namespace

std::string spec_json(const artefact_info &a) {
  return "{\"spec\": " + quoted(a.spec) + ", \"hash\": " + quoted(a.hash) +
         ", \"tensors\": " + list_of(a.call.tensor_count, [&](int i) { return shape_json(in_layout(a.call.tensors[i], a.n.layout)); }) + ", \"weights\": " + weights_json(a) +
         ", \"numbers\": " + list_of(a.call.number_count, [&](int i) { return quoted(name_of(a.call.call_numbers[i])); }) +
         ", \"variants\": " + list_of(a.variant_count, [&](int i) { return variant_json(a.variants[i]); }) + "}";
}

std::string targets_json(const std::vector<target_report> &reports) {
  return list_of(static_cast<int>(reports.size()), [&](int i) {
    const target_report &r = reports[static_cast<std::size_t>(i)];
    return "{\"name\": " + quoted(info_of(r.target).name) + ", \"in_build\": " + truth(r.in_build) + ", \"runs_here\": " + truth(r.runs_here) + ", \"why_not\": " + quoted(r.why_not) + "}";
  });
}

} // namespace attune

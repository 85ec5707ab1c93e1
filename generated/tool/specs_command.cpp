// attune specs: the specs with their shapes, masks, targets and hashes.
#include "generated/table_options.hpp"
#include "generated/tool/catalogue.hpp"
#include "generated/tool/commands.hpp"
#include "generated/tool/table.hpp"
#include "schedules/build.hpp"
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace attune {
namespace {

std::string number(const setting &s) { return s.kind == setting::at_call ? "at call" : fmt::format("{}", s.value); }

/// "12 × 64"; "32/8 × 128" for query and kv heads; "8 × 64→32" for another value_dim; then the features of a layer.
std::string shape_text(const numbers &n) {
  std::string text = n.heads == n.kv_heads ? fmt::format("{} × {}", n.heads, n.head_dim) : fmt::format("{}/{} × {}", n.heads, n.kv_heads, n.head_dim);
  if (n.value_dim != n.head_dim) text += fmt::format("→{}", n.value_dim);
  if (n.model_dim > 0) text += fmt::format(", from {}", n.model_dim);
  if (n.context_dim > 0) text += fmt::format(" and {}", n.context_dim);
  if (n.output_dim > 0) text += fmt::format(", to {}", n.output_dim);
  return text;
}

std::vector<std::string> masks_of(const operator_description &d) {
  std::vector<std::string> masks;
  if (d.n.causal == causal_alignment::diagonal) masks.push_back("causal");
  else if (d.n.causal != causal_alignment::off) masks.push_back(fmt::format("causal {}", name_of(d.n.causal)));
  if (d.n.window.kind != setting::off) masks.push_back(fmt::format("window {}", number(d.n.window)));
  if (d.n.key_lengths) masks.push_back("key lengths");
  for (const input_declaration &i : d.inputs) {
    if (i.role == tensor_role::boolean_mask) masks.push_back("boolean");
    if (i.role == tensor_role::additive_mask) masks.push_back("additive");
  }
  if (!d.mask_functions.empty()) masks.push_back("function");
  return masks;
}

std::vector<std::string> scores_of(const operator_description &d) {
  std::vector<std::string> scores{fmt::format("scale {}", number(d.n.scale))};
  if (d.n.softcap.kind != setting::off) scores.push_back(fmt::format("softcap {}", number(d.n.softcap)));
  if (!d.score_functions.empty()) scores.push_back("function");
  return scores;
}

std::vector<std::string> targets_of(const operator_description &d) {
  std::vector<std::string> carrying;
  for (const target_info &t : all_targets)
    if (why_not(d, t).empty()) carrying.push_back(t.name);
  return carrying;
}

std::string or_dash(const std::vector<std::string> &words) { return words.empty() ? "–" : joined(words, ", "); }

table columns_of(bool with_hash) {
  table rows{{"spec", "heads × head_dim", "element", "masks", "scores", "targets that can carry it"}};
  if (with_hash) rows[0].push_back("hash");
  for (const tool_spec &s : tool_specs()) {
    const operator_description d = s.describe();
    rows.push_back({s.name, shape_text(d.n), name_of(d.n.element), or_dash(masks_of(d)), or_dash(scores_of(d)), or_dash(targets_of(d))});
    if (with_hash) rows.back().push_back(spec_hash(d));
  }
  return rows;
}

/// The schedule that the emitter takes for each length bucket.
nlohmann::ordered_json schedules_of(const operator_description &d, const target_info &target) {
  nlohmann::ordered_json schedules;
  for (const length_bucket b : buckets_of(d.n)) {
    const schedule_point point = choose_schedule(d, target, b);
    schedules[name_of(b)] = {{"text", point.text()}, {"origin", point.origin}, {"why", point.why}};
  }
  return schedules;
}

nlohmann::ordered_json json_of(const tool_spec &s) {
  const operator_description d = s.describe();
  const numbers &n = d.n;
  nlohmann::ordered_json j = {{"name", s.name}, {"struct", d.name}, {"hash", spec_hash(d)}, {"element", name_of(n.element)}, {"heads", n.heads},
                              {"kv_heads", n.kv_heads}, {"head_dim", n.head_dim}, {"value_dim", n.value_dim}, {"model_dim", n.model_dim},
                              {"context_dim", n.context_dim}, {"output_dim", n.output_dim}, {"masks", masks_of(d)}, {"scores", scores_of(d)},
                              {"targets", targets_of(d)}};
  j["schedules"] = j["refused"] = nlohmann::ordered_json::object();
  for (const target_info &t : all_targets)
    if (const std::string reason = why_not(d, t); !reason.empty()) j["refused"][t.name] = reason;
    else j["schedules"][t.name] = schedules_of(d, t);
  j["canonical_text"] = canonical_text(d);
  return j;
}

constexpr const char *page_head = R"(# Stock specs

What `libattune_stock` holds: real shapes. The tool takes the names below, C++ and the C ABI those of the structs, with
`attune::stock::` before them. `attune specs` prints the same with hashes, `attune specs --json` with all details. "32/8"
means 32 query heads on 8 key and value heads; "from 768, to 768" are the features of a layer's input and output, whose
projections are part of the kernel. A trailing `_f16` or `_bf16` names the storage of the elements; arithmetic is f32. This
page is the output of `attune specs --markdown`.

)";

void print_json() {
  table_options{}.use(); // as an emission on this machine does
  auto all = nlohmann::ordered_json::array();
  for (const tool_spec &s : tool_specs()) all.push_back(json_of(s));
  fmt::print("{}\n", all.dump(2));
}
} // namespace

void add_specs_command(CLI::App &app) {
  CLI::App *command = app.add_subcommand("specs", "the specs: shape, element, masks, scores, targets, hash");
  const auto json = std::make_shared<bool>(false), markdown = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "with all details, as JSON");
  command->add_flag("--markdown", *markdown, "as the page docs/specs.md");
  command->callback([json, markdown] {
    if (*json) print_json();
    else if (*markdown) fmt::print("{}{}", page_head, as_markdown(columns_of(false)));
    else fmt::print("{}", as_columns(columns_of(true)));
  });
}

} // namespace attune

// The canonical text of a spec: what its hash stands for. Two specs with one text may share one kernel.
#include "dsl/pipeline/operator_description.hpp"
#include <cstdio>
#include <sstream>

namespace attune {
namespace {

using Halide::Expr;

/// Nine digits tell any two f32 apart, seventeen any two doubles.
std::string digits(double value, int count) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", count, value);
  return text;
}

std::string text_of(const setting &s) {
  switch (s.kind) {
    case setting::off: return "off";
    case setting::fixed: return digits(s.value, 17);
    case setting::at_call: return "runtime";
  }
  return {};
}

/// Halide prints floats with six decimals; this puts all their digits in place of each constant.
class exact_constants : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  Expr visit(const Halide::Internal::FloatImm *constant) override {
    return Halide::Internal::Variable::make(constant->type, digits(constant->value, 9) + "f");
  }
};

std::string text_of(const Expr &e) {
  std::ostringstream text;
  text << exact_constants().mutate(Halide::Internal::simplify(e));
  return text.str();
}

Expr variable(Halide::Type type, const char *name) { return Halide::Internal::Variable::make(type, name); }

/// Reads of inputs as calls with the input's name: slope(head).
input_reader named_reader(const operator_description &d) {
  return [&d](int input, const std::vector<Expr> &indices) {
    const input_declaration &declared = d.inputs[static_cast<std::size_t>(input)];
    const Halide::Type type = is_whole(declared.element) ? Halide::Int(32) : Halide::Float(32);
    return Halide::Internal::Call::make(type, declared.name, indices, Halide::Internal::Call::PureExtern);
  };
}

void write_source(std::ostream &out, const numbers &n) {
  switch (n.source) {
    case source_kind::operands: out << "operands"; break;
    case source_kind::projection: out << "project model_dim=" << n.model_dim; break;
    case source_kind::cross_projection:
      out << "project cross model_dim=" << n.model_dim << " context_dim=" << n.context_dim;
      break;
  }
  if (n.sinusoidal_theta > 0) out << " sinusoidal_positions=" << digits(n.sinusoidal_theta, 17);
  if (is_projected(n)) out << " bias=" << (n.projection_bias ? "yes" : "no");
  out << " heads=" << n.heads << " kv_heads=" << n.kv_heads << " head_dim=" << n.head_dim << " value_dim=" << n.value_dim
      << " element=" << name_of(n.element) << " extents=" << (n.same_extents ? "same" : "free")
      << " layout=" << name_of(n.layout) << '\n';
}

void write_cache(std::ostream &out, const numbers &n) {
  if (!n.cache.own_element && n.cache.scale == kv_scaling::off && !is_paged(n)) return;
  out << "cache element=" << name_of(cache_element(n)) << " scale=" << name_of(n.cache.scale) << " page_size=" << n.cache.page_size << '\n';
}

void write_inputs(std::ostream &out, const std::vector<input_declaration> &inputs) {
  for (const input_declaration &input : inputs) {
    out << "input " << input.name << ' ' << name_of(input.element) << " [";
    for (int a = 0; a < input.rank; ++a) out << (a > 0 ? " " : "") << name_of(input.axes[a]);
    out << "]\n";
  }
}

/// Says nothing where there is no rotary embedding.
void write_rope(std::ostream &out, const rotary_embedding &r) {
  if (r.dims == 0) return;
  out << "rope dims=" << r.dims << " theta=" << (r.angle_tables ? "given" : digits(r.theta, 17)) << " pairing=" << name_of(r.pairing)
      << " position_offsets=" << (r.position_offsets ? "yes" : "no") << " keys_rotated=" << (r.keys_rotated ? "yes" : "no") << '\n';
}

void write_scores(std::ostream &out, const operator_description &d, const position_expr &at) {
  out << "scores scale=" << text_of(d.n.scale) << " softcap=" << text_of(d.n.softcap) << '\n';
  for (const score_function &f : d.score_functions)
    out << "  score := " << text_of(f(variable(Halide::Float(32), "score"), at, named_reader(d))) << '\n';
}

void write_mask(std::ostream &out, const operator_description &d, const position_expr &at) {
  out << "mask causal=" << name_of(d.n.causal) << " sliding_window=" << text_of(d.n.window)
      << " key_lengths=" << (d.n.key_lengths ? "yes" : "no");
  if (d.n.window_right.kind != setting::off) out << " window_right=" << text_of(d.n.window_right);
  out << '\n';
  for (const mask_function &f : d.mask_functions) out << "  attend if " << text_of(f(at, named_reader(d))) << '\n';
}

} // namespace

std::string canonical_text(const operator_description &d) {
  const auto index = [](const char *name) { return variable(Halide::Int(32), name); };
  const position_expr at{index("batch"), index("head"), index("query"), index("key"), index("kv_head"), index("position"), index("query_count"), index("key_count")};
  const numbers &n = d.n;
  std::ostringstream out;
  write_source(out, n);
  write_cache(out, n);
  write_inputs(out, d.inputs);
  write_rope(out, n.rope);
  write_scores(out, d, at);
  write_mask(out, d, at);
  out << name_of(n.weights) << (n.sigmoid_bias.kind == setting::off ? "" : " bias=" + text_of(n.sigmoid_bias)) << " empty_rows=" << name_of(n.empty_rows) << (n.sinks ? " sinks=yes" : "") << '\n';
  out << "weighted_sum masked_values=" << name_of(n.masked_values) << " lse=" << (n.returns_lse ? "yes" : "no")
      << " weights=" << (n.returns_weights ? "yes" : "no") << (n.returns_scaled_scores ? " scaled_scores=yes" : "")
      << (n.returns_capped_scores ? " capped_scores=yes" : "") << (n.returns_masked_scores ? " masked_scores=yes" : "") << '\n';
  if (n.output_dim > 0) out << "project_out model_dim=" << n.output_dim << " bias=" << (n.output_bias ? "yes" : "no") << '\n';
  return out.str();
}

std::string spec_hash(const operator_description &d) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : canonical_text(d)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

} // namespace attune

#include "schedules/cpu_operator.hpp"
#include "dsl/pipeline/angles.hpp"
#include "dsl/pipeline/score_tensors.hpp"
#include "dsl/pipeline/element.hpp"
#include "dsl/pipeline/rotary.hpp"
#include "schedules/build.hpp"
#include "schedules/cpu_blocked.hpp"
#include "schedules/cpu_decode.hpp"
#include "schedules/cpu_module.hpp"
#include "schedules/cpu_projection.hpp"
#include "schedules/cpu_tiles.hpp"
#include "schedules/cpu_vectors.hpp"
#include <map>

namespace attune {
using namespace Halide;

namespace {

constexpr int rows_of_task = 16; ///< where rows are only copied or converted

void schedule_attention(blocked_attention &a, const Func &result, const std::vector<Func> &of_rows, const operator_description &op, const target_info &target, const schedule_point &point) {
  schedule_cpu_blocked(a, result, of_rows, op, target, point);
}
void schedule_attention(decode_attention &a, const Func &result, const std::vector<Func> &of_rows, const operator_description &op, const target_info &target, const schedule_point &point) {
  schedule_cpu_decode(a, result, of_rows, op, target, point);
}

std::vector<rows_ahead> fetched_ahead(const blocked_attention &, const call_arguments &, const operator_description &, const schedule_point &) { return {}; }
std::vector<rows_ahead> fetched_ahead(const decode_attention &a, const call_arguments &args, const operator_description &op, const schedule_point &point) {
  return cpu_decode_fetches(a, args, op, point);
}

tiled_funcs tiled_funcs_of(const decode_attention &) { return {}; }

/// Lays a whole CPU operator out: projections, attention (blocked or decode), log-sum-exp, weights and scores where they are returned.
template <class Attention> class cpu_operator {
public:
  cpu_operator(const operator_description &description, const target_info &machine, const schedule_point &how, const decltype(Attention::cut) &cut)
      : op(description), target(machine), point(how), args(op, target.host == architecture::x86_64), source(rotated(is_projected(op.n) ? projected_source() : operand_source(args))),
        attention(op, args, source, cut) {
    attend();
    if (op.n.output_dim > 0) project_out();
    if (op.n.returns_lse) outputs.push_back(lse);
    if (op.n.returns_weights || returns_scores(op.n)) return_scores();
    for (Func &f : outputs)
      for (int i = 0; i < f.dimensions(); ++i) f.output_buffers().front().dim(i).set_min(0); // the others of a Tuple have the same
  }

  Module compile(const std::string &name) { return cpu_module(outputs, args.in_order(), name, halide_target(target, is_projected(op.n)), {fetched_ahead(attention, args, op, point), tiled}); }

private:
  const operator_description &op;
  const target_info &target;
  const schedule_point &point;
  call_arguments args;
  tiled_funcs tiled;                     ///< projections first
  std::map<std::string, Func> converted; ///< inputs of projections as f32, by name; filled while `source` is made
  attention_source source;
  Attention attention;
  Func attended{"attended"}; ///< (d, q, h, b), as stored; where it is projected out (feature of all heads, q, b)
  Func lse{"lse_tensor"}; ///< (q, h, b), where it is wanted
  std::vector<Func> outputs;

  /// A projection's input: stored elements of (feature, row, batch).
  using stored_rows = std::function<Expr(Expr, Expr, Expr)>;
  static stored_rows rows_of(const ImageParam &input) {
    return [input](const Expr &feature, const Expr &row, const Expr &batch) { return input(feature, clamp(row, 0, input.dim(1).extent() - 1), batch); };
  }

  /// Hidden states with their positions added (Vaswani et al., Attention Is All You Need, 2017, section 3.5), stored once for all
  /// projections: feature 2 i gets sin(p theta^(-2 i / model_dim)), feature 2 i + 1 the cosine.
  stored_rows with_positions(const stored_rows &stored) {
    Func &rows = converted["hidden_with_positions"], angles("position_angles");
    Var feature("feature"), row("row"), batch("batch"), ro("ro"), ri("ri");
    if (!rows.defined()) {
      const Buffer<std::uint64_t> fractions = turn_fractions(op.n.sinusoidal_theta, op.n.model_dim);
      const sine_cosine at = sine_cosine_of(row, fractions(feature / 2));
      angles(feature, row) = select(feature % 2 == 0, at.sine, at.cosine);
      rows = Func("hidden_with_positions");
      rows(feature, row, batch) = store_as(load_f32(stored(feature, row, batch), op.n.element) + angles(feature, row), op.n.element);
      rows.compute_root().bound(feature, 0, op.n.model_dim).vectorize(feature, f32_lanes(target), TailStrategy::GuardWithIf)
          .reorder(feature, batch, row).split(row, ro, ri, rows_of_task, TailStrategy::GuardWithIf).parallel(ro);
      angles.compute_at(rows, ri).vectorize(feature, f32_lanes(target), TailStrategy::GuardWithIf);
    }
    return [rows](const Expr &f, const Expr &r, const Expr &b) { return Expr(rows(f, r, b)); };
  }

  /// 16-bit elements that are multiplied as f32 are converted once for all projections of them.
  void project_from(projection &p, const std::string &name, const stored_rows &stored) {
    if (op.n.element == element_type::f32 || p.layout.pairs) return p.of(stored);
    Func &rows = converted[name];
    if (!rows.defined()) {
      rows = Func(name);
      Var feature, row, batch;
      rows(feature, row, batch) = load_f32(stored(feature, row, batch), op.n.element);
      Var ro("ro"), ri("ri");
      rows.compute_root().vectorize(feature, f32_lanes(target), TailStrategy::GuardWithIf).split(row, ro, ri, rows_of_task, TailStrategy::GuardWithIf).parallel(ro);
    }
    p.of_f32([&](const Expr &feature, const Expr &row, const Expr &batch) { return rows(feature, row, batch); });
  }

  void schedule(projection &p, projection_place place) {
    schedule_projection(p, place, target, point);
    tiled += tiled_funcs_of(p);
  }

  /// One projection, as the spec stores it (dim, position, head, batch).
  Func project(const std::string &name, const ImageParam &input, int features_in, int heads, int dim, const matrix_arguments &matrix) {
    projection p(name, features_in, heads * dim, panels_of(op, target), op.n.element, matrix);
    const bool has_positions = op.n.sinusoidal_theta > 0 && input.name() == args.hidden.name();
    project_from(p, input.name() + "_rows", has_positions ? with_positions(rows_of(input)) : rows_of(input));
    schedule(p, projection_place::inner);
    Func view(name + "_view");
    Var d, n, h, b;
    view(d, n, h, b) = p.result(h * dim + d, n, b);
    return view;
  }

  attention_source projected_source() {
    const bool cross = op.n.source == source_kind::cross_projection;
    const ImageParam &hidden = args.hidden, &context = cross ? args.context : args.hidden;
    const int context_dim = cross ? op.n.context_dim : op.n.model_dim;
    return {project("projected_query", hidden, op.n.model_dim, op.n.heads, op.n.head_dim, args.query_matrix),
            project("projected_key", context, context_dim, op.n.kv_heads, op.n.head_dim, args.key_matrix),
            project("projected_value", context, context_dim, op.n.kv_heads, op.n.value_dim, args.value_matrix)};
  }

  /// Rotated keys are stored once for all tiles and heads that read them: O(keys x head_dim) beside O(queries x keys x head_dim).
  attention_source rotated(const attention_source &plain) {
    if (op.n.rope.dims == 0) return plain;
    rotary_source r(op, args, plain);
    const int lanes = lanes_for(op.n.head_dim, f32_lanes(target)), pair_lanes = lanes_for(op.n.rope.dims / 2, f32_lanes(target));
    Var no("no"), ni("ni");
    const auto by_rows = [&](Func f, int vector) {
      std::vector<Var> axes = f.args();
      f.compute_root().split(axes[1], no, ni, rows_of_task, TailStrategy::GuardWithIf).vectorize(axes[0], vector).unroll(axes[0]).parallel(no);
      axes[1] = ni;
      axes.push_back(no);
      f.reorder(std::vector<VarOrRVar>(axes.begin(), axes.end()));
    };
    if (r.angles.defined()) by_rows(r.angles.bound(r.angles.args()[0], 0, op.n.rope.dims / 2), pair_lanes);
    if (!op.n.rope.keys_rotated) by_rows(r.rotated.key.bound(r.rotated.key.args()[0], 0, op.n.head_dim), lanes);
    return r.rotated;
  }

  void attend() {
    auto &a = attention;
    if (op.n.output_dim > 0) attend_in_rows();
    else attended(a.d, a.q, a.h, a.b) = store_as(a.output(a.d, a.q, a.h, a.b), op.n.element);
    std::vector<Func> of_rows;
    if (op.n.returns_lse) {
      lse(a.q, a.h, a.b) = a.lse(a.q, a.h, a.b);
      of_rows.push_back(lse);
    }
    for (const Func &f : of_rows) bind_rows(f);
    if (!of_rows.empty() && op.n.output_dim == 0) bind_rows(attended);
    schedule_attention(a, attended, of_rows, op, target, point);
    tiled += tiled_funcs_of(a);
    if (op.n.output_dim > 0) return;
    attended.output_buffer().dim(0).set_extent(op.n.value_dim);
    outputs.push_back(attended);
  }

  /// What is projected out: the heads side by side in each row, written there by the loops over heads and features.
  void attend_in_rows() {
    auto &a = attention;
    Var feature("feature");
    attended(feature, a.q, a.b) = store_as(a.output(feature % op.n.value_dim, a.q, feature / op.n.value_dim, a.b), op.n.element);
    attended.compute_root().bound(feature, 0, op.n.heads * op.n.value_dim).bound(a.q, 0, args.query_count).bound(a.b, 0, args.batch_count)
        .split(feature, a.h, a.d, op.n.value_dim);
  }

  /// One text for the extents of all Funcs that share a loop: what Halide can tell to be equal needs no loops of its own at the ends.
  void bind_rows(Func f) {
    const auto &a = attention;
    f.bound(a.q, 0, args.query_count).bound(a.h, 0, op.n.heads).bound(a.b, 0, args.batch_count);
  }

  void project_out() {
    projection p("output_tensor", op.n.heads * op.n.value_dim, op.n.output_dim, panels_of(op, target), op.n.element, args.output_matrix);
    project_from(p, "attended_f32", [&](const Expr &feature, const Expr &r, const Expr &batch) { return attended(feature, clamp(r, 0, args.query_count - 1), batch); });
    schedule(p, projection_place::output);
    p.result.output_buffer().dim(0).set_extent(op.n.output_dim);
    outputs.push_back(p.result);
  }

  void return_scores() {
    score_tensors w(op, args, source, f32_lanes(target));
    w.schedule();
    outputs.push_back(w.result);
  }
};

} // namespace

std::string cpu_family::why_not(const operator_description &op, const target_info &target, length_bucket bucket) const {
  if (target.device != device_kind::cpu) return family + " is for CPUs";
  if (const std::string objection = rotary_why_not(op); !objection.empty()) return objection;
  if (decodes()) return cpu_decode_why_not(op, bucket);
  if (family == "tiles") return cpu_tiles_why_not(op, target);
  if (family == "running" && op.n.weights == weighting::sigmoid) return "running merges chunks by their maxima, which sigmoid does not have";
  if (family == "row_tile" && !is_short(bucket))
    return std::string("row_tile keeps the scores of a tile against all keys at once, and is for calls with at most ").append(std::to_string(short_keys)).append(" keys");
  return "";
}

std::vector<schedule_parameter> cpu_family::parameters(const operator_description &op, const target_info &target) const {
  std::vector<schedule_parameter> all = decodes() ? cpu_decode_parameters(op, target) : cpu_blocked_parameters(op, family);
  if (is_projected(op.n)) for (schedule_parameter &p : cpu_projection_parameters(panels_of(op, target))) all.push_back(std::move(p));
  return all;
}

std::string cpu_family::broken_rule(const operator_description &op, const target_info &target, const schedule_point &point) const {
  for (const auto &[name, value] : point.parameters)
    if (const std::string beyond = in_range(name, value); !beyond.empty()) return beyond;
  const std::string broken = decodes() ? cpu_decode_broken_rule(op, target, point) : cpu_blocked_broken_rule(op, target, point);
  return broken.empty() && is_projected(op.n) ? cpu_projection_broken_rule(panels_of(op, target), target, point) : broken;
}

schedule_point cpu_family::default_point(const operator_description &op, const target_info &target) const {
  schedule_point p = decodes() ? cpu_decode_default(op, target) : cpu_blocked_default(op, target, family);
  if (is_projected(op.n)) for (const auto &parameter : cpu_projection_default(panels_of(op, target), target)) p.parameters.push_back(parameter);
  return p;
}

Module cpu_family::build(const operator_description &op, const target_info &target, const schedule_point &point, const std::string &function_name) const {
  if (decodes()) return cpu_operator<decode_attention>(op, target, point, decode_blocking_of(op, target, point)).compile(function_name);
  return cpu_operator<blocked_attention>(op, target, point, blocking_of(op, target, point)).compile(function_name);
}

} // namespace attune

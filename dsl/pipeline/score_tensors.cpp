#include "dsl/pipeline/score_tensors.hpp"
#include "dsl/pipeline/scores.hpp"
#include "dsl/pipeline/softmax.hpp"

namespace attune {
using namespace Halide;

namespace {
/// `value` where the condition holds, else `otherwise`. By bits: a NaN that is not chosen has no effect, and bounds inference does not
/// narrow the region of the dot products by the condition.
Expr choose_bits(const Expr &condition, const Expr &value, std::uint32_t otherwise) {
  const Expr keep = select(condition, detail::u32(0xffffffff), detail::u32(0));
  return reinterpret<float>((reinterpret<std::uint32_t>(value) & keep) | (detail::u32(otherwise) & ~keep));
}
constexpr std::uint32_t minus_infinity = 0xff800000u;
} // namespace

score_tensors::score_tensors(const operator_description &op, const call_arguments &args, const attention_source &source, int vector_lanes)
    : features(0, op.n.head_dim, "score_features"), lanes(vector_lanes) {
  const Expr count = key_count_of(op, args, b), key = min(k, max(count - 1, 0));
  const Expr scaled = load_f32(source.query(features, q, h, b), op.n.element) * query_factor(op, args);
  dot(k, q, h, b) = 0.0f;
  dot(k, q, h, b) += scaled * args.load_stored(source.key(features, key, h / (op.n.heads / op.n.kv_heads), b));
  const position_expr at{b, h, q, k};
  const Expr product = dot_of_key(op, args, dot(k, q, h, b), at), attended = allowed(op, args, at), exists = k < count;

  std::vector<Expr> tensors;
  if (op.n.returns_weights) {
    const Expr score = base2_score(op, args, product, at);
    const bool softmax = op.n.weights == weighting::softmax;
    if (softmax) define_softmax(op, args, masked(score, attended));
    const Expr weight = softmax ? row_weights(k, q, h, b) * inverse_or_zero(row_maximum(q, h, b), row_total(q, h, b)) : sigmoid_by(exp2_nonpositive, score);
    tensors.push_back(choose_bits(attended, weight, 0));
  }
  const score_steps steps = steps_of_score(op, args, product, at);
  if (op.n.returns_scaled_scores) tensors.push_back(choose_bits(exists, steps.scaled, 0));
  if (op.n.returns_capped_scores) tensors.push_back(choose_bits(exists, steps.capped, 0));
  if (op.n.returns_masked_scores) tensors.push_back(choose_bits(attended, steps.complete, minus_infinity));
  if (tensors.size() == 1) result(k, q, h, b) = tensors.front();
  else result(k, q, h, b) = Tuple(tensors);
}

void score_tensors::define_softmax(const operator_description &op, const call_arguments &args, const Expr &score) {
  whole_vectors = RDom(0, args.key_count / lanes, "whole_vectors");
  across = RDom(0, lanes, "across");
  rest = RDom(args.key_count / lanes * lanes, args.key_count % lanes, "rest");
  const Expr sink = sink_score(op, args, h);
  row_scores(k, q, h, b) = score;
  lane_maximum(u, q, h, b) = no_score;
  lane_maximum(u, q, h, b) = max(lane_maximum(u, q, h, b), row_scores(whole_vectors * lanes + u, q, h, b));
  row_maximum(q, h, b) = sink;
  row_maximum(q, h, b) = max(row_maximum(q, h, b), lane_maximum(across, q, h, b));
  row_maximum(q, h, b) = max(row_maximum(q, h, b), row_scores(rest, q, h, b));

  row_weights(k, q, h, b) = exp2_nonpositive_fast_math(row_scores(k, q, h, b) - row_maximum(q, h, b));
  lane_total(u, q, h, b) = 0.0f;
  lane_total(u, q, h, b) += row_weights(whole_vectors * lanes + u, q, h, b);
  row_total(q, h, b) = op.n.sinks ? exp2_nonpositive_fast_math(sink - row_maximum(q, h, b)) : Expr(0.0f);
  row_total(q, h, b) += lane_total(across, q, h, b);
  row_total(q, h, b) += row_weights(rest, q, h, b);
}

void score_tensors::schedule() {
  // Loops over keys end at the last one: masks have nothing behind it.
  const auto by_keys = [&](Func f) { f.compute_at(result, q).vectorize(k, lanes, TailStrategy::GuardWithIf); };
  result.parallel(q).vectorize(k, lanes, TailStrategy::GuardWithIf);
  dot.compute_at(result, q).vectorize(k, lanes);
  dot.update().reorder(features.x, k).vectorize(k, lanes);
  if (!row_weights.defined()) return;
  by_keys(row_scores), by_keys(row_weights);
  for (Func *f : {&lane_maximum, &lane_total}) {
    f->compute_at(result, q).bound_extent(u, lanes).vectorize(u, lanes);
    f->update().vectorize(u, lanes);
  }
  row_maximum.compute_at(result, q);
  row_total.compute_at(result, q);
}

} // namespace attune

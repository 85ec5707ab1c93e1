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

score_tensors::score_tensors(const operator_description &op, const call_arguments &args, const attention_source &source, const Func &row_state)
    : features(0, op.n.head_dim, "score_features") {
  const Expr count = key_count_of(op, args, b), key = min(k, max(count - 1, 0));
  const Expr scaled = load_f32(source.query(features, q, h, b), op.n.element) * query_factor(op, args);
  dot(k, q, h, b) = 0.0f;
  dot(k, q, h, b) += scaled * args.load_stored(source.key(features, key, h / (op.n.heads / op.n.kv_heads), b));
  const position_expr at{b, h, q, k};
  const Expr product = dot_of_key(op, args, dot(k, q, h, b), at), attended = allowed(op, args, at), exists = k < count;

  std::vector<Expr> tensors;
  if (op.n.returns_weights) {
    const Expr score = base2_score(op, args, product, at);
    // This dot product may round otherwise than the one that made the maximum: never above it.
    const Expr weight = op.n.weights == weighting::sigmoid
                            ? sigmoid_by(exp2_nonpositive, score)
                            : exp2_nonpositive(min(score - row_state(q, h, b)[0], 0.0f)) / row_state(q, h, b)[1];
    tensors.push_back(choose_bits(attended, weight, 0));
  }
  const score_steps steps = steps_of_score(op, args, product, at);
  if (op.n.returns_scaled_scores) tensors.push_back(choose_bits(exists, steps.scaled, 0));
  if (op.n.returns_capped_scores) tensors.push_back(choose_bits(exists, steps.capped, 0));
  if (op.n.returns_masked_scores) tensors.push_back(choose_bits(attended, steps.complete, minus_infinity));
  if (tensors.size() == 1) result(k, q, h, b) = tensors.front();
  else result(k, q, h, b) = Tuple(tensors);
}

} // namespace attune

#include "dsl/pipeline/scores.hpp"
#include "dsl/pipeline/elementary.hpp"
#include "dsl/pipeline/mask.hpp"
#include "dsl/pipeline/softmax.hpp"

namespace attune {
using namespace Halide;

namespace {
constexpr float log2_e = 1.44269504088896341f, ln_of_2 = 0.693147180559945309f;

bool has_additive_mask(const operator_description &op) {
  for (const input_declaration &i : op.inputs)
    if (i.role == tensor_role::additive_mask) return true;
  return false;
}

/// Selects as bit operations. Halide takes the arms of a select for conditional uses; where the condition reads the score
/// itself, it then gives up skipping the tiles that a mask leaves empty, and computes them all.
struct selects_as_bits : Internal::IRMutator {
private:
  using Internal::IRMutator::visit;
  Expr visit(const Internal::Select *op) override {
    if (op->type.bits() != 32) return IRMutator::visit(op);
    const Type bits = UInt(32, op->type.lanes());
    const Expr condition = mutate(op->condition), chosen = reinterpret(bits, mutate(op->true_value)), other = reinterpret(bits, mutate(op->false_value));
    const Expr mask = Internal::make_const(bits, 0) - cast(bits, condition);
    return reinterpret(op->type, (chosen & mask) | (other & ~mask));
  }
};

/// Whether something stands between the dot product and the softmax.
bool changes_scores(const operator_description &op) {
  return op.n.softcap.kind != setting::off || !op.score_functions.empty() || has_additive_mask(op);
}

/// Whether a tensor's value lies below lowest_additive_mask, -inf included. By bits, where more negative is larger: a NaN does not,
/// and fast-math would let a maximum drop it.
Expr is_below_lowest(const Expr &value) {
  const Expr bits = reinterpret<std::uint32_t>(value);
  return bits > reinterpret<std::uint32_t>(Expr(lowest_additive_mask)) && bits <= detail::u32(0xff800000);
}

/// An additive mask, at least lowest_additive_mask; NaN stays NaN.
Expr saturated(const Expr &mask) { return select(is_below_lowest(mask), lowest_additive_mask, mask); }
} // namespace

Expr query_factor(const operator_description &op, const call_arguments &args) {
  const Expr scale = value_of(op.n.scale, args.scale);
  return changes_scores(op) ? scale : scale * log2_e;
}

namespace {
/// The same key, or the last one that the batch has: a scale past it is never read.
Expr within_length(const operator_description &op, const call_arguments &args, const Expr &key, const Expr &batch) {
  return clamp(key, 0, max(key_count_of(op, args, batch) - 1, 0));
}
} // namespace

Expr dot_of_key(const operator_description &op, const call_arguments &args, Expr dot, const position_expr &at) {
  if (op.n.cache.scale == kv_scaling::off) return dot;
  return dot * args.scale_of(args.key_scale, within_length(op, args, at.key, at.batch), at.head / (op.n.heads / op.n.kv_heads), at.batch);
}

Expr weight_of_stored(const operator_description &op, const call_arguments &args, Expr weight, Expr key, Expr kv_head, Expr batch) {
  if (op.n.cache.scale == kv_scaling::off) return weight;
  const Expr scale = args.scale_of(args.value_scale, within_length(op, args, key, batch), kv_head, batch);
  return weight * (op.n.masked_values == masked_value_policy::anything ? only_where_weighted(scale, weight) : scale);
}

score_steps steps_of_score(const operator_description &op, const call_arguments &args, const Expr &dot, const position_expr &at) {
  score_steps steps;
  steps.scaled = changes_scores(op) ? dot : dot * ln_of_2;
  Expr score = steps.scaled;
  if (op.n.softcap.kind != setting::off) {
    const Expr cap = value_of(op.n.softcap, args.softcap);
    score = cap * softcap_tanh_expr(score * (1.0f / cap)); // one division per call, not per score, where the cap is known only then
  }
  steps.capped = score;
  const mask_reads reads = clamped_reads_of(op, args);
  const position_expr place = place_of(op, args, at, reads);
  for (const score_function &f : op.score_functions) score = f(score, place, reads.value);
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i].role == tensor_role::additive_mask) score += saturated(mask_tensor(op, args, static_cast<int>(i), at));
  steps.complete = score;
  return steps;
}

Expr base2_score(const operator_description &op, const call_arguments &args, Expr dot, const position_expr &at) {
  const Expr score = changes_scores(op) ? selects_as_bits().mutate(steps_of_score(op, args, dot, at).complete * log2_e) : dot;
  return op.n.sigmoid_bias.kind == setting::off ? score : score + value_of(op.n.sigmoid_bias, args.sigmoid_bias) * log2_e;
}

Expr sink_score(const operator_description &op, const call_arguments &args, const Expr &head) {
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i].role == tensor_role::sinks) {
      const Expr sink = args.read(static_cast<int>(i), {head});
      return select(is_below_lowest(sink), no_score, sink * log2_e);
    }
  return no_score;
}

} // namespace attune

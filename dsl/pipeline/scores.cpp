#include "dsl/pipeline/scores.hpp"
#include "dsl/pipeline/elementary.hpp"
#include "dsl/pipeline/mask.hpp"

namespace attune {
using namespace Halide;

namespace {
constexpr float log2_e = 1.44269504088896341f;

bool has_additive_mask(const operator_description &op) {
  for (const input_declaration &i : op.inputs)
    if (i.role == tensor_role::additive_mask) return true;
  return false;
}
bool is_plain(const operator_description &op) {
  return op.n.softcap.kind == setting::off && op.score_functions.empty() && !has_additive_mask(op);
}
} // namespace

Expr query_factor(const operator_description &op, const call_arguments &args) {
  const Expr scale = value_of(op.n.scale, args.scale);
  return is_plain(op) ? scale * log2_e : scale;
}

Expr at_least(Expr value, Expr floor) {
  // The comparison is strict: under fast-math the compiler may swap its operands, and a NaN would then lose.
  return select(strict_float(value < floor), floor, value);
}

Expr base2_score(const operator_description &op, const call_arguments &args, Expr dot, const position_expr &at) {
  if (is_plain(op)) return dot;
  Expr score = dot;
  if (op.n.softcap.kind != setting::off) {
    const Expr cap = value_of(op.n.softcap, args.softcap);
    score = cap * tanh_expr(score / cap);
  }
  const input_reader read = [&args](int input, const std::vector<Expr> &indices) { return args.read(input, indices); };
  for (const score_function &f : op.score_functions) score = f(score, at, read);
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i].role == tensor_role::additive_mask) score += mask_tensor(op, args, static_cast<int>(i), at);
  return at_least(score * log2_e, Expr(-9e29f));
}

} // namespace attune

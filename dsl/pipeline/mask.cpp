#include "dsl/pipeline/mask.hpp"
#include "dsl/pipeline/element.hpp"
#include <algorithm>
#include <map>
#include <stdexcept>

namespace attune {
using namespace Halide;

namespace {
bool is_mask_tensor(const input_declaration &i) { return i.role == tensor_role::boolean_mask || i.role == tensor_role::additive_mask; }

/// Where a query stands among the keys: on the diagonal that causal and window are measured from.
Expr diagonal(const operator_description &op, const call_arguments &args, Expr query, Expr batch) {
  if (op.n.causal == causal_alignment::at_length) return query + (key_count_of(op, args, batch) - args.query_count);
  const bool from_the_end = op.n.causal == causal_alignment::bottom_right || (op.n.causal == causal_alignment::off && !op.n.same_extents);
  return from_the_end ? query + (args.key_count - args.query_count) : query;
}

/// Never so large that a position minus a window overflows.
Expr window_of(const operator_description &op, const call_arguments &args) {
  constexpr int largest = 1 << 30;
  return op.n.window.kind == setting::at_call ? min(args.window, largest) : Expr(static_cast<int>(std::min<double>(op.n.window.value, largest)));
}
} // namespace

bool is_affine(const operator_description &op) {
  for (const input_declaration &i : op.inputs)
    if (is_mask_tensor(i)) return false;
  return op.mask_functions.empty();
}

Expr key_count_of(const operator_description &op, const call_arguments &args, Expr batch) {
  return op.n.key_lengths ? clamp(args.key_lengths(batch), 0, args.key_count) : args.key_count;
}

Expr mask_tensor(const operator_description &op, const call_arguments &args, int input, const position_expr &at) {
  std::vector<Expr> indices;
  const input_declaration &declared = op.inputs[input];
  for (int a = 0; a < declared.rank; ++a) switch (declared.axes[a]) {
      case axis_name::batch: indices.push_back(at.batch); break;
      case axis_name::head: indices.push_back(at.head); break;
      case axis_name::kv_head: indices.push_back(at.head / (op.n.heads / op.n.kv_heads)); break;
      case axis_name::query: indices.push_back(at.query); break;
      case axis_name::key: indices.push_back(at.key); break;
      default:
        throw std::invalid_argument(std::string("mask tensor ") + declared.name + " has axis " + name_of(declared.axes[a]) + ", which a score does not have");
    }
  return args.read(input, indices);
}

Expr allowed(const operator_description &op, const call_arguments &args, const position_expr &at) {
  Expr ok = at.key < key_count_of(op, args, at.batch);
  const Expr here = diagonal(op, args, at.query, at.batch);
  if (op.n.causal != causal_alignment::off) ok = ok && at.key <= here;
  if (op.n.window.kind != setting::off) ok = ok && here - at.key <= window_of(op, args);
  const input_reader read = [&args](int input, const std::vector<Expr> &indices) { return args.read(input, indices); };
  for (const mask_function &f : op.mask_functions) ok = ok && f(at, read);
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i].role == tensor_role::boolean_mask) ok = ok && mask_tensor(op, args, static_cast<int>(i), at) != 0.0f;
    if (op.inputs[i].role == tensor_role::additive_mask) // compared as bits: fast-math knows no infinity
      ok = ok && reinterpret<std::uint32_t>(mask_tensor(op, args, static_cast<int>(i), at)) != detail::u32(0xff800000);
  }
  return ok;
}

key_limits limits_of(const operator_description &op, const call_arguments &args, Expr first_query, Expr last_query, Expr batch) {
  const Expr count = key_count_of(op, args, batch);
  const auto within = [&](Expr key) { return clamp(key, 0, count); };
  key_limits l{Expr(0), count, Expr(0), count};
  if (op.n.causal != causal_alignment::off) {
    l.end = within(diagonal(op, args, last_query, batch) + 1);
    l.full_end = within(diagonal(op, args, first_query, batch) + 1);
  }
  if (op.n.window.kind != setting::off) {
    l.begin = within(diagonal(op, args, first_query, batch) - window_of(op, args));
    l.full_begin = within(diagonal(op, args, last_query, batch) - window_of(op, args));
  }
  return l;
}

namespace {
/// A mask as interval analysis can bound it. `a == b` becomes two inequalities, because its bounds would only say "may
/// hold". A read that does not depend on query or key (a length, a head's own window) becomes a variable: one value per
/// tile, which the analysis would otherwise take for any value.
struct boundable_mask : Halide::Internal::IRMutator {
  std::map<std::string, Expr> reads; ///< of the variables that stand for them

private:
  using Halide::Internal::IRMutator::visit;
  static Expr both_ways(const Expr &a, const Expr &b) { return a <= b && b <= a; }
  Expr visit(const Halide::Internal::EQ *op) override {
    return op->a.type().is_int() ? both_ways(mutate(op->a), mutate(op->b)) : IRMutator::visit(op);
  }
  Expr visit(const Halide::Internal::NE *op) override {
    return op->a.type().is_int() ? !both_ways(mutate(op->a), mutate(op->b)) : IRMutator::visit(op);
  }
  Expr visit(const Halide::Internal::Call *op) override {
    using namespace Halide::Internal;
    const bool is_read = op->call_type == Call::Image || op->call_type == Call::Halide;
    if (!is_read || expr_uses_var(op, "mask_query") || expr_uses_var(op, "mask_key")) return IRMutator::visit(op);
    for (const auto &[name, read] : reads)
      if (equal(read, op)) return Variable::make(op->type, name);
    const std::string name = unique_name("tile_read");
    reads[name] = op;
    return Variable::make(op->type, name);
  }
};
} // namespace

Expr classify_tile(const operator_description &op, const call_arguments &args, Expr first_query, Expr last_query, Expr first_key, int keys, Expr head,
                   Expr batch) {
  using namespace Halide::Internal;
  // Plain variables stand for the tile's corner, so that the interval analysis sees nothing but the mask.
  const Expr query = Variable::make(Int(32), "mask_query"), key = Variable::make(Int(32), "mask_key");
  const Expr q0 = Variable::make(Int(32), "tile_first_query"), q1 = Variable::make(Int(32), "tile_last_query"), k0 = Variable::make(Int(32), "tile_first_key");
  Scope<Interval> scope;
  scope.push("mask_query", Interval(q0, q1));
  scope.push("mask_key", Interval(k0, k0 + (keys - 1)));
  boundable_mask boundable;
  const Expr mask = boundable.mutate(allowed(op, args, {batch, head, query, key}));
  const Interval holds = bounds_of_expr_in_scope(select(mask, 1, 0), scope);
  const Expr any = holds.has_upper_bound() ? simplify(holds.max == 1) : const_true();
  const Expr all = holds.has_lower_bound() ? simplify(holds.min == 1) : const_false();
  const auto here = [&](Expr e) {
    e = substitute("tile_first_query", first_query, substitute("tile_last_query", last_query, substitute("tile_first_key", first_key, e)));
    return simplify(substitute(boundable.reads, e));
  };
  return select(here(all), static_cast<int>(full_tile), here(any), static_cast<int>(partial_tile), static_cast<int>(empty_tile));
}

} // namespace attune

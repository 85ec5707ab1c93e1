#include "dsl/pipeline/mask.hpp"
#include "dsl/pipeline/element.hpp"
#include <algorithm>
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

namespace {
std::vector<Expr> mask_indices(const operator_description &op, const input_declaration &declared, const position_expr &at) {
  std::vector<Expr> indices;
  for (int a = 0; a < declared.rank; ++a) switch (declared.axes[a]) {
      case axis_name::batch: indices.push_back(at.batch); break;
      case axis_name::head: indices.push_back(at.head); break;
      case axis_name::kv_head: indices.push_back(at.head / (op.n.heads / op.n.kv_heads)); break;
      case axis_name::query: indices.push_back(at.query); break;
      case axis_name::key: indices.push_back(at.key); break;
      default:
        throw std::invalid_argument(std::string("mask tensor ") + declared.name + " has axis " + name_of(declared.axes[a]) + ", which a score does not have");
    }
  return indices;
}

/// -inf as an additive mask stores it.
std::uint32_t minus_infinity(element_type e) { return e == element_type::f16 ? 0xfc00 : e == element_type::bf16 ? 0xff80 : 0xff800000; }
} // namespace

Expr mask_tensor(const operator_description &op, const call_arguments &args, int input, const position_expr &at) {
  return args.read(input, args.clamped(input, mask_indices(op, op.inputs[input], at)));
}

mask_reads reads_of(const operator_description &op, const call_arguments &args) {
  const auto attends = [&op, &args](int input, const std::vector<Expr> &indices) {
    const Expr stored = args.stored(input, indices);
    if (op.inputs[input].role == tensor_role::boolean_mask) return stored != 0;
    const Type bits = UInt(stored.type().bits()); // fast-math knows no infinity
    return reinterpret(bits, stored) != Internal::make_const(bits, minus_infinity(op.inputs[input].element));
  };
  return {[&args](int input, const std::vector<Expr> &indices) { return args.read(input, indices); }, attends};
}

Expr allowed(const operator_description &op, const call_arguments &args, const position_expr &at) {
  const mask_reads within = reads_of(op, args);
  const auto clamped = [&args](const input_reader &read) {
    return [&args, read](int input, const std::vector<Expr> &indices) { return read(input, args.clamped(input, indices)); };
  };
  return allowed(op, args, at, {clamped(within.value), clamped(within.attends)});
}

Expr allowed(const operator_description &op, const call_arguments &args, const position_expr &at, const mask_reads &reads) {
  Expr ok = at.key < key_count_of(op, args, at.batch);
  const Expr here = diagonal(op, args, at.query, at.batch);
  if (op.n.causal != causal_alignment::off) ok = ok && at.key <= here;
  if (op.n.window.kind != setting::off) ok = ok && here - at.key <= window_of(op, args);
  for (const mask_function &f : op.mask_functions) ok = ok && f(at, reads.value);
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (is_mask_tensor(op.inputs[i])) ok = ok && reads.attends(static_cast<int>(i), mask_indices(op, op.inputs[i], at));
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

} // namespace attune

#include "dsl/pipeline/mask.hpp"
#include "dsl/pipeline/element.hpp"
#include <algorithm>
#include <stdexcept>

namespace attune {
using namespace Halide;

namespace {
bool is_mask_tensor(const input_declaration &i) { return i.role == tensor_role::boolean_mask || i.role == tensor_role::additive_mask; }

/// Never so large that a position minus a window overflows.
Expr window_of(const setting &s, const Param<int> &at_call) {
  constexpr int largest = 1 << 30;
  return s.kind == setting::at_call ? min(at_call, largest) : Expr(static_cast<int>(std::min<double>(s.value, largest)));
}

} // namespace

packed_rows::packed_rows(const operator_description &op, const call_arguments &args) : first_key("first_key"), end_key("end_key"), position("position") {
  const int query_offsets = input_of(op.inputs, tensor_role::query_offsets);
  if (query_offsets < 0) return;
  const int given = input_of(op.inputs, tensor_role::key_offsets), key_offsets = given < 0 ? query_offsets : given;
  const Expr sequences = args.extent(query_offsets, 0) - 1;
  const auto offset = [&](int input, const Expr &i) { return args.read(input, {clamp(i, 0, sequences)}); };
  // The last sequence that begins at or before the query, by halving: bit after bit of its number.
  Var n("n");
  Func sequence("sequence");
  const RDom bit(0, 31, "bit");
  sequence(n) = 0;
  const Expr later = sequence(n) + (Expr(1) << (30 - bit));
  sequence(n) = select(later < sequences && offset(query_offsets, later) <= n, later, sequence(n));
  const Expr s = sequence(n), first_query = offset(query_offsets, s), end_query = offset(query_offsets, s + 1), end = offset(key_offsets, s + 1);
  const Expr first = select(n < end_query, offset(key_offsets, s), end); // a query behind the last sequence has no keys
  first_key(n) = first;
  end_key(n) = end;
  position(n) = first + (n - first_query) + (aligned_to_end(op.n) ? (end - first) - (end_query - first_query) : 0);
  sequence.compute_root().update().vectorize(n, 8);
  for (Func *f : {&first_key, &end_key, &position}) f->compute_root();
}

namespace {
/// Where a query stands among the keys: the position that causal and windows are measured from.
Expr position_of(const operator_description &op, const call_arguments &args, const mask_reads &reads, const Expr &query, const Expr &batch) {
  if (args.packed.defined()) return reads.of_row(args.packed.position, query);
  if (op.n.causal == causal_alignment::at_length) return query + (key_count_of(op, args, batch) - args.query_count);
  return aligned_to_end(op.n) ? query + (args.key_count - args.query_count) : query;
}

/// The keys [begin, end) that causal, prefix, windows and documents by offsets leave to one query; undefined: from the first, to the
/// last. Neither falls from one query to the next.
struct row_keys {
  Expr begin, end;
};
row_keys keys_of_row(const operator_description &op, const call_arguments &args, const mask_reads &reads, const Expr &query, const Expr &batch) {
  const Expr here = position_of(op, args, reads, query, batch);
  row_keys r;
  const auto at_most = [&](const Expr &end) { r.end = r.end.defined() ? min(r.end, end) : end; };
  if (op.n.causal != causal_alignment::off) {
    const int prefix = input_of(op.inputs, tensor_role::prefix_lengths);
    at_most(prefix < 0 ? here + 1 : max(here + 1, reads.value(prefix, {batch})));
  }
  if (op.n.window_right.kind != setting::off) at_most(here + 1 + window_of(op.n.window_right, args.window_right));
  if (op.n.window.kind != setting::off) r.begin = here - window_of(op.n.window, args.window);
  if (args.packed.defined()) {
    const Expr first = reads.of_row(args.packed.first_key, query), end = reads.of_row(args.packed.end_key, query);
    r.begin = r.begin.defined() ? clamp(r.begin, first, end) : first;
    r.end = r.end.defined() ? clamp(r.end, first, end) : end;
  }
  return r;
}
} // namespace

Expr query_position(const operator_description &op, const call_arguments &args, Expr query, Expr batch) {
  return position_of(op, args, reads_of(op, args), query, batch);
}

bool begins_late(const operator_description &op) { return op.n.window.kind != setting::off || input_of(op.inputs, tensor_role::query_offsets) >= 0; }
bool is_trimmed(const operator_description &op) { return begins_late(op) || op.n.causal != causal_alignment::off || op.n.window_right.kind != setting::off; }

position_expr place_of(const operator_description &op, const call_arguments &args, const position_expr &at, const mask_reads &reads) {
  return {at.batch, at.head, at.query, at.key, at.head / (op.n.heads / op.n.kv_heads), position_of(op, args, reads, at.query, at.batch), args.query_count, args.key_count};
}

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
  return {[&args](int input, const std::vector<Expr> &indices) { return args.read(input, indices); }, attends, [](const Func &f, const Expr &query) { return f(query); }};
}

mask_reads clamped_reads_of(const operator_description &op, const call_arguments &args) {
  mask_reads reads = reads_of(op, args);
  for (input_reader *r : {&reads.value, &reads.attends})
    *r = [&args, within = *r](int input, const std::vector<Expr> &indices) { return within(input, args.clamped(input, indices)); };
  return reads;
}

Expr allowed(const operator_description &op, const call_arguments &args, const position_expr &at) { return allowed(op, args, at, clamped_reads_of(op, args)); }

Expr allowed(const operator_description &op, const call_arguments &args, const position_expr &at, const mask_reads &reads) {
  Expr ok = at.key < key_count_of(op, args, at.batch);
  const row_keys row = keys_of_row(op, args, reads, at.query, at.batch);
  if (row.begin.defined()) ok = ok && at.key >= row.begin;
  if (row.end.defined()) ok = ok && at.key < row.end;
  const position_expr place = place_of(op, args, at, reads);
  for (const mask_function &f : op.mask_functions) ok = ok && f(place, reads.value);
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (is_mask_tensor(op.inputs[i])) ok = ok && reads.attends(static_cast<int>(i), mask_indices(op, op.inputs[i], at));
  return ok;
}

key_limits limits_of(const operator_description &op, const call_arguments &args, Expr first_query, Expr last_query, Expr batch) {
  const Expr count = key_count_of(op, args, batch);
  const auto within = [&](const Expr &key, const Expr &otherwise) { return key.defined() ? clamp(key, 0, count) : otherwise; };
  const mask_reads reads = clamped_reads_of(op, args);
  const row_keys first = keys_of_row(op, args, reads, first_query, batch), last = keys_of_row(op, args, reads, last_query, batch);
  return {within(first.begin, 0), within(last.end, count), within(last.begin, 0), within(first.end, count)};
}

} // namespace attune

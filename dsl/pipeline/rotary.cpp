#include "dsl/pipeline/rotary.hpp"
#include "dsl/pipeline/angles.hpp"
#include "dsl/pipeline/mask.hpp"

namespace attune {
using namespace Halide;

std::string rotary_why_not(const operator_description &op) {
  if (op.n.rope.angle_tables && input_of(op.inputs, tensor_role::query_offsets) >= 0)
    return "tables of angles do not go with documents by offsets: let rope compute its angles";
  return "";
}

rotary_source::rotary_source(const operator_description &description, const call_arguments &arguments, const attention_source &source, const element_conversion &conversion)
    : rotated{Func("rotated_query"), Func("rotated_key"), source.value}, op(description), args(arguments), convert(conversion) {
  const bool query_alone = op.n.rope.keys_rotated;
  if (!op.n.rope.angle_tables) define_angles();
  Var d("d"), n("n"), h("h"), b("b");
  const Expr row = query_alone ? Expr(n) : place_of_query(n, b);
  rotated.query(d, n, h, b) = rotate([&](const Expr &feature) { return Expr(source.query(feature, n, h, b)); }, op.n.element, d, row, b);
  // Keys past a batch's length are never read: the last one stands for them.
  const Expr key = min(n, max(key_count_of(op, args, b) - 1, 0));
  if (query_alone) rotated.key = source.key;
  else rotated.key(d, n, h, b) = rotate([&](const Expr &feature) { return Expr(source.key(feature, key, h, b)); }, cache_element(op.n), d, n, b);
}

Expr rotary_source::place_of_query(const Expr &query, const Expr &batch) const {
  const Expr place = query_position(op, args, query, batch);
  if (!args.packed.defined()) return place;
  // Read from a Func, of whose values Halide knows no bounds. Documents aligned to their ends end within the keys, others begin there.
  const bool to_end = aligned_to_end(op.n);
  return clamp(place, to_end ? -args.query_count : Expr(0), args.key_count - 1 + (to_end ? Expr(0) : args.query_count));
}

Expr rotary_source::position_of(const Expr &row, const Expr &batch) const {
  const Expr place = op.n.rope.keys_rotated ? query_position(op, args, row, batch) : row;
  return op.n.rope.position_offsets ? place + args.position_offsets(batch) : place;
}

bool rotary_source::depends_on_batch() const {
  return op.n.rope.position_offsets || (op.n.rope.keys_rotated && op.n.causal == causal_alignment::at_length);
}

void rotary_source::define_angles() {
  Var i("i"), n("n"), b("b");
  const Buffer<std::uint64_t> fractions = turn_fractions(op.n.rope.theta, op.n.rope.dims);
  turns(i) = fractions(i);
  const sine_cosine of_angle = sine_cosine_of(position_of(n, b), turns(i));
  if (depends_on_batch()) angles(i, n, b) = Tuple(of_angle.cosine, of_angle.sine);
  else angles(i, n) = Tuple(of_angle.cosine, of_angle.sine);
}

std::pair<Expr, Expr> rotary_source::angle_at(const Expr &pair, const Expr &row, const Expr &batch) const {
  if (op.n.rope.angle_tables) {
    // Rows that the mask leaves empty may stand before the table.
    const Expr position = clamp(position_of(row, batch), 0, args.cos_table.dim(1).extent() - 1);
    return {args.cos_table(pair, position, batch), args.sin_table(pair, position, batch)};
  }
  std::vector<Expr> at{pair, row};
  if (depends_on_batch()) at.push_back(batch);
  return {angles(at)[0], angles(at)[1]};
}

Expr rotary_source::rotate(const stored_features &stored, element_type element, const Expr &feature, const Expr &row, const Expr &batch) const {
  const int dims = op.n.rope.dims, pairs = dims / 2;
  const bool halves = op.n.rope.pairing == rotary_pairing::half, some_stay = dims < op.n.head_dim;
  const Expr is_first = halves ? feature < pairs : feature % 2 == 0;
  Expr other = halves ? select(is_first, feature + pairs, feature - pairs) : select(is_first, feature + 1, feature - 1);
  Expr pair = halves ? select(is_first, feature, feature - pairs) : feature / 2;
  if (some_stay) other = select(feature < dims, other, feature), pair = min(pair, pairs - 1);
  // Bounds inference sees each arm of a select by itself.
  other = unsafe_promise_clamped(other, 0, op.n.head_dim - 1), pair = unsafe_promise_clamped(pair, 0, pairs - 1);
  const Expr x = convert.load(stored(feature), element), y = convert.load(stored(other), element);
  const auto [cosine, sine] = angle_at(pair, row, batch);
  const Expr turned = convert.store(x * cosine + select(is_first, -y, y) * sine, element);
  return some_stay ? select(feature < dims, turned, stored(feature)) : turned;
}

} // namespace attune

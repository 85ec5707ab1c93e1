#include "dsl/pipeline/tile_classifier.hpp"
#include "dsl/pipeline/element.hpp"
#include <algorithm>
#include <limits>
#include <map>

namespace attune {
using namespace Halide;
using Halide::Internal::Interval;

namespace {
constexpr const char *query_name = "mask_query", *key_name = "mask_key"; ///< any query and key of the tile
constexpr const char *first_query_name = "tile_first_query", *last_query_name = "tile_last_query", *first_key_name = "tile_first_key", *last_key_name = "tile_last_key";

Expr variable(const std::string &name) { return Internal::Variable::make(Int(32), name); }

/// A mask as interval analysis can bound it. `a == b` becomes two inequalities, because its bounds would only say "may hold". A read
/// that does not depend on query or key (a length, a head's own window) becomes a variable: one value per tile, which the
/// analysis would otherwise take for any value.
struct boundable_mask : Internal::IRMutator {
  std::map<std::string, Expr> reads; ///< of the variables that stand for them

private:
  using Internal::IRMutator::visit;
  static Expr both_ways(const Expr &a, const Expr &b) { return a <= b && b <= a; }
  Expr visit(const Internal::EQ *op) override { return op->a.type().is_int() ? both_ways(mutate(op->a), mutate(op->b)) : IRMutator::visit(op); }
  Expr visit(const Internal::NE *op) override { return op->a.type().is_int() ? !both_ways(mutate(op->a), mutate(op->b)) : IRMutator::visit(op); }
  Expr visit(const Internal::Call *op) override {
    const bool is_read = op->call_type == Internal::Call::Image || op->call_type == Internal::Call::Halide;
    if (!is_read || expr_uses_var(op, query_name) || expr_uses_var(op, key_name)) return IRMutator::visit(op);
    for (const auto &[name, read] : reads)
      if (equal(read, op)) return Internal::Variable::make(op->type, name);
    const std::string name = Internal::unique_name("tile_read");
    reads[name] = op;
    return Internal::Variable::make(op->type, name);
  }
};

/// A float as an integer in the same order; NaN lies beyond the infinities. And back.
Expr ordered(const Expr &x) {
  const Expr bits = reinterpret<int>(x);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}
Expr of_ordered(const Expr &x) { return reinterpret<float>(x ^ ((x >> 31) & 0x7fffffff)); }
constexpr int ordered_infinity = 0x7f800000, ordered_minus_infinity = ~0x7f800000;

int power_of_two_in(int n) { return n & -n; }
} // namespace

/// What is known while one mask is analysed.
struct tile_classifier::analysis {
  tile_classifier &tile;
  const call_arguments &args;
  Expr queries;
  int keys;
  std::map<std::string, Expr> corners; ///< the tile's first and last query and key
  Internal::Scope<Interval> scope;     ///< of query, key, and the reads so far
  std::map<std::string, Expr> ranges;  ///< of the variables that stand for the ends of a read's range
  boundable_mask boundable;
  struct known_read {
    int input;
    bool attends;
    std::vector<Expr> indices;
    Expr value;
  };
  std::vector<known_read> known;

  /// The box that an index takes over the tile: its first value, its last, and the most values between them (undefined: not known).
  struct index_range {
    Expr first, last, extent;
  };
  index_range range_of(const Expr &index) const {
    const Interval i = bounds_of_expr_in_scope(index, scope);
    if (!i.is_bounded()) return {};
    const Expr steps = simplify(substitute(last_query_name, variable(first_query_name) + queries - 1, substitute(last_key_name, variable(first_key_name) + (keys - 1), i.max - i.min)));
    Expr most = find_constant_bound(steps, Internal::Direction::Upper);
    if (!most.defined() && !expr_uses_vars(steps, tile_variables())) most = steps;
    if (!most.defined()) return {};
    const auto at_call = [&](const Expr &e) { return substitute(boundable.reads, substitute(corners, e)); };
    return {at_call(i.min), at_call(i.max), simplify(most + 1)};
  }
  Internal::Scope<> tile_variables() const {
    Internal::Scope<> all;
    for (const char *name : {first_query_name, first_key_name}) all.push(name);
    for (const Var *v : {&tile.strip, &tile.tile_block, &tile.head, &tile.batch}) all.push(v->name());
    for (const auto &[name, read] : boundable.reads) all.push(name);
    for (const auto &[name, end] : ranges) all.push(name);
    return all;
  }

  /// The variable that stands for a read; its range is in `scope`.
  Expr read(int input, const std::vector<Expr> &given, bool attends, const input_reader &load) {
    std::vector<Expr> indices;
    for (const Expr &i : given) indices.push_back(simplify(boundable.mutate(i)));
    const auto is_of_place = [&](const Expr &i) { return expr_uses_vars(i, scope); };
    if (std::none_of(indices.begin(), indices.end(), is_of_place)) return load(input, args.clamped(input, given));
    for (const known_read &k : known)
      if (k.input == input && k.attends == attends && std::equal(indices.begin(), indices.end(), k.indices.begin(), k.indices.end(), [](const Expr &a, const Expr &b) { return equal(a, b); }))
        return k.value;
    const Type type = attends ? Int(32) : load(input, given).type();
    const std::string name = Internal::unique_name("tile_read");
    const Expr value = Internal::Variable::make(type, name);
    known.push_back({input, attends, indices, value});
    scope.push(name, range_of_read(name, input, indices, attends, load));
    return value;
  }
  /// What packed_rows knows of a query: its range over the strip.
  Expr of_row(const Func &f) {
    const std::string name = f.name() + "_of_strip";
    if (!scope.contains(name)) {
      const RDom row(0, queries, name + "_rows");
      const Expr value = f(min(tile.strip * queries + row, args.query_count - 1));
      Func least(name + "_least"), greatest(name + "_greatest");
      least(tile.strip) = std::numeric_limits<int>::max();
      least(tile.strip) = min(least(tile.strip), value);
      greatest(tile.strip) = std::numeric_limits<int>::min();
      greatest(tile.strip) = max(greatest(tile.strip), value);
      least.compute_root(), greatest.compute_root();
      ranges[name + "_low"] = least(tile.strip), ranges[name + "_high"] = greatest(tile.strip);
      scope.push(name, {variable(name + "_low"), variable(name + "_high")});
    }
    return variable(name);
  }
  Interval range_of_read(const std::string &name, int input, const std::vector<Expr> &indices, bool attends, const input_reader &load);
};

Interval tile_classifier::analysis::range_of_read(const std::string &name, int input, const std::vector<Expr> &indices, bool attends, const input_reader &load) {
  std::vector<index_range> box;
  Expr elements = 1;
  for (const Expr &i : indices) {
    box.push_back(range_of(i));
    if (!box.back().extent.defined()) return Interval::everything();
    elements = simplify(elements * box.back().extent);
  }
  if (is_const(elements) && is_const(queries) && can_prove(elements > 4 * queries * keys)) return Interval::everything(); // more work than it saves

  // The innermost index runs in the lanes of a vector, as far as its extent divides by a power of two. A vector that would reach past
  // the box's end begins earlier instead, so that loads are of neighbours, and does not count what lies before the box.
  const auto innermost = static_cast<int>(box.size()) - 1;
  const auto whole = as_const_int(box[innermost].extent);
  const int lanes = whole ? power_of_two_in(static_cast<int>(*whole)) : 1;
  const Expr fills_vector = args.extent(input, innermost) >= lanes;
  Var lane("lane"), end("end");
  Region extents;
  for (int i = 0; i <= innermost; ++i) extents.emplace_back(0, i == innermost ? box[i].extent / lanes : box[i].extent);
  const RDom places(extents, name + "_box"), all_lanes(0, lanes, name + "_lanes");
  std::vector<Expr> at;
  Expr counts;
  for (int i = 0; i <= innermost; ++i) {
    const Expr last = max(min(box[i].last, args.extent(input, i) - 1), 0), first = clamp(box[i].first, 0, last);
    if (i < innermost) {
      at.push_back(min(first + places[i], last));
      continue;
    }
    const Expr in_vector = select(fills_vector, lane, min(lane, args.extent(input, i) - 1));
    at.push_back(max(min(first + places[i] * lanes, last - (lanes - 1)), 0) + in_vector);
    counts = at.back() >= first && at.back() <= last;
  }
  Expr loaded = load(input, at);
  const bool is_float = loaded.type().is_float();
  if (attends) loaded = cast<std::uint8_t>(loaded);
  else if (is_float) loaded = ordered(loaded);

  // The least of the values (end 0) and of their complements (end 1).
  std::vector<Var> pure{end}, in_lanes{lane, end};
  std::vector<Expr> of_lane{Expr(all_lanes), end}, least{0}, greatest{1};
  for (const Var *v : {&tile.strip, &tile.tile_block, &tile.head, &tile.batch})
    if (expr_uses_var(loaded, v->name())) {
      pure.push_back(*v), in_lanes.push_back(*v);
      of_lane.push_back(*v), least.push_back(*v), greatest.push_back(*v);
    }
  Func by_lane(name + "_by_lane"), range(name + "_range");
  by_lane(in_lanes) = loaded.type().max();
  by_lane(in_lanes) = min(by_lane(in_lanes), select(counts, select(end == 0, loaded, ~loaded), loaded.type().max()));
  range(pure) = loaded.type().max();
  range(pure) = min(range(pure), by_lane(of_lane));

  range.bound(end, 0, 2).unroll(end).update().reorder(all_lanes.x, end).unroll(end).atomic().vectorize(all_lanes.x);
  by_lane.bound(end, 0, 2).bound(lane, 0, lanes).vectorize(lane, lanes).unroll(end);
  std::vector<VarOrRVar> order{lane, end, places[innermost]};
  const bool is_of_both = expr_uses_var(loaded, tile.strip.name()) && expr_uses_var(loaded, tile.tile_block.name());
  if (is_of_both) {
    tile.of_both.insert(tile.of_both.end(), {range, by_lane});
    order.push_back(tile.tile_block); // along a row of the tensor through all blocks, then the next row: memory is read in order
  } else {
    range.compute_root();
    if (pure.size() > 1) by_lane.compute_at(range, pure[1]);
    else by_lane.compute_root();
  }
  for (int i = innermost - 1; i >= 0; --i) order.push_back(places[i]);
  Stage update = by_lane.update().reorder(order).vectorize(lane, lanes).unroll(end);
  if (lanes > 1) update.specialize(args.inputs[input].dim(0).stride() == 1 && fills_vector);

  const std::string low = name + "_low", high = name + "_high";
  Expr from = range(least), to = ~range(greatest);
  if (is_float) { // where there is a NaN, anything may come of it
    const Expr has_nan = from < ordered_minus_infinity || to > ordered_infinity;
    const float largest = std::numeric_limits<float>::max();
    from = select(has_nan, -largest, of_ordered(from));
    to = select(has_nan, largest, of_ordered(to));
  }
  ranges[low] = is_float ? from : cast<int>(from);
  ranges[high] = is_float ? to : cast<int>(to);
  const Type type = is_float ? Float(32) : Int(32);
  return {Internal::Variable::make(type, low), Internal::Variable::make(type, high)};
}

tile_classifier::tile_classifier(const operator_description &op, const call_arguments &args, const Expr &queries, int keys) {
  const Expr last = args.query_count - 1, first_key = tile_block * keys;
  const Expr last_key = max(min(first_key + (keys - 1), key_count_of(op, args, batch) - 1), first_key);
  analysis a{*this, args, queries, keys,
             {{first_query_name, min(strip * queries, last)}, {last_query_name, min(strip * queries + (queries - 1), last)}, {first_key_name, first_key}, {last_key_name, last_key}},
             {}, {}, {}, {}};
  a.scope.push(query_name, Interval(variable(first_query_name), variable(last_query_name)));
  a.scope.push(key_name, Interval(variable(first_key_name), variable(last_key_name)));
  const mask_reads load = reads_of(op, args);
  const mask_reads ranged{[&](int input, const std::vector<Expr> &indices) { return a.read(input, indices, false, load.value); },
                          [&](int input, const std::vector<Expr> &indices) { return a.read(input, indices, true, load.attends) != 0; },
                          [&](const Func &f, const Expr &) { return a.of_row(f); }};
  const Expr mask = a.boundable.mutate(allowed(op, args, {batch, head, variable(query_name), variable(key_name)}, ranged));
  // The mask itself is asked about all keys of the block, so that a block with a key past the last is not full.
  Internal::Scope<Interval> whole_block;
  whole_block.set_containing_scope(&a.scope);
  whole_block.push(key_name, Interval(variable(first_key_name), variable(first_key_name) + (keys - 1)));
  const Interval holds = bounds_of_expr_in_scope(select(mask, 1, 0), whole_block);
  const Expr any = holds.has_upper_bound() ? simplify(holds.max == 1) : Internal::const_true();
  const Expr all = holds.has_lower_bound() ? simplify(holds.min == 1) : Internal::const_false();
  const auto here = [&](const Expr &e) { return simplify(substitute(a.boundable.reads, substitute(a.ranges, substitute(a.corners, e)))); };
  class_of_tile = select(here(all), static_cast<int>(full_tile), here(any), static_cast<int>(partial_tile), static_cast<int>(empty_tile));
}

Expr tile_classifier::operator()(const Expr &at_strip, const Expr &at_block, const Expr &at_head, const Expr &at_batch) const {
  const std::map<std::string, Expr> place{{strip.name(), at_strip}, {tile_block.name(), at_block}, {head.name(), at_head}, {batch.name(), at_batch}};
  return simplify(substitute(place, class_of_tile));
}

void tile_classifier::compute_ranges_at(const Func &consumer, const Var &loop) {
  for (Func &f : of_both) f.compute_at(consumer, loop);
}

} // namespace attune

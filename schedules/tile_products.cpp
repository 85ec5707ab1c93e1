#include "schedules/tile_products.hpp"
#include "schedules/loop_nest.hpp"
#include <sstream>
#include <stdexcept>
#include <utility>

namespace attune {
using namespace Halide;
using namespace Halide::Internal;

namespace {
bool begins_with(const std::string &text, const std::string &begin) { return text.compare(0, begin.size(), begin) == 0; }

[[noreturn]] void fail(const std::string &func, const std::string &what) { throw std::logic_error("no tiles for " + func + ": " + what); }

Expr bytes(const Expr &elements, int of_element) { return simplify(cast<std::int64_t>(elements) * of_element); }

Expr tensor_of(const place &p) { return Variable::make(Handle(), p.tensor); }

Stmt call_hook(const char *name, const std::vector<Expr> &arguments) { return Evaluate::make(Call::make(Int(32), name, arguments, Call::Extern)); }

std::string described(const loop_nest &nest, const std::vector<place> &places) {
  std::ostringstream text;
  text << "; its loops and the steps of its elements:";
  for (const loop_of &loop : nest.loops) {
    text << "\n  " << loop.name;
    for (const place &p : places) text << ", " << p.tensor << " " << p.step(loop);
  }
  return text.str();
}

int constant_extent(const std::string &func, const loop_of &loop) {
  const auto extent = as_const_int(simplify(loop.extent));
  if (!extent) fail(func, "the loop " + loop.name + " has no constant extent");
  return static_cast<int>(*extent);
}

/// The loops around one product.
struct product_nest {
  loop_nest nest;
  std::vector<loop_of> sums;          ///< outermost first
  loop_of pair, row, column;
  place sum, left, right;
  Expr sum_row, left_row, right_pair; ///< strides in elements

  product_nest(const std::string &func, const Stmt &);
  Stmt tiles() const;

private:
  void sort_loops();
  [[noreturn]] void refuse(const std::string &what) const { fail(sum.tensor, what + described(nest, {sum, left, right})); }
  Stmt call(const std::vector<loop_of> &inside, const Expr &steps, bool accumulate) const;
};

product_nest::product_nest(const std::string &func, const Stmt &s) {
  const auto found = nest_of(func, s);
  if (!found) fail(func, "there is more than one statement in its loops");
  nest = *found;
  const Add *add = nest.value.as<Add>();
  const Mul *mul = !add ? nullptr : add->a.as<Mul>() ? add->a.as<Mul>() : add->b.as<Mul>();
  const auto a = mul ? only_load(mul->a) : std::nullopt, b = mul ? only_load(mul->b) : std::nullopt;
  if (!a || !b) fail(func, "its update is not a sum of products of two loaded elements");
  sum = nest.stored, left = *a, right = *b;
  sort_loops();
}

void product_nest::sort_loops() {
  loop_of half;
  for (const loop_of &loop : nest.loops) {
    const Expr c = sum.step(loop), a = left.step(loop), b = right.step(loop);
    if (!c.defined() || !a.defined() || !b.defined()) refuse("not all steps of " + loop.name + " are equal");
    if (is_const_one(c) && (is_const_zero(a) || is_const_zero(b))) column = loop;
    else if (!is_const_zero(c)) row = loop;
    else if (is_const_one(a) && is_const_one(b)) half = loop;
    else sums.push_back(loop);
  }
  if (half.name.empty() || row.name.empty() || column.name.empty() || sums.empty()) refuse("its loops are not half, column, row and pair");
  if (is_const_zero(right.step(row)) == is_const_zero(left.step(row))) refuse("both factors or none depend on its rows");
  if (!is_const_zero(right.step(row))) std::swap(left, right);
  pair = sums.back(), sums.pop_back();
  sum_row = sum.step(row), left_row = left.step(row), right_pair = right.step(pair);
  if (!is_const(left.step(pair), 2) || !is_const(right.step(column), 2)) refuse("pairs do not lie side by side");
  for (const loop_of &loop : {half, row, column, pair}) {
    if (expr_uses_var(nest.condition, loop.name)) refuse("the condition on a product is not the same in all of a tile");
    for (place *p : {&sum, &left, &right}) p->start(loop);
  }
}

Stmt product_nest::call(const std::vector<loop_of> &inside, const Expr &steps, bool accumulate) const {
  const int rows = constant_extent(sum.tensor, row), columns = constant_extent(sum.tensor, column), pairs = constant_extent(sum.tensor, pair);
  if (rows % tile_rows != 0 || columns % tile_columns != 0 || pairs % tile_pairs != 0) refuse("rows, columns and pairs are not whole tiles");
  const auto begin = [&](place p) {
    for (const loop_of &loop : inside) p.start(loop);
    return bytes(p.index, 2);
  };
  const auto step = [&](const place &p) { return inside.size() == 1 ? bytes(p.step(inside[0]), 2) : make_zero(Int(64)); };
  return call_hook("attune_tile_products", {tensor_of(left), begin(left), bytes(left_row, 2), step(left), tensor_of(right), begin(right), bytes(right_pair, 2), step(right),
                                            tensor_of(sum), bytes(sum.index, 4), bytes(sum_row, 4), rows, columns, pairs / tile_pairs, steps, accumulate ? 1 : 0});
}

Stmt product_nest::tiles() const {
  const bool conditional = !is_const_one(nest.condition);
  if (sums.empty() && !conditional) return call({}, 1, false);
  if (sums.size() == 1 && !conditional) return call(sums, max(sums[0].extent, 0), false);
  Stmt loops = call({}, 1, true);
  if (conditional) loops = IfThenElse::make(nest.condition, loops);
  for (auto loop = sums.rbegin(); loop != sums.rend(); ++loop)
    loops = For::make(loop->name, loop->min, loop->extent, ForType::Serial, Partition::Never, DeviceAPI::None, loops);
  return Block::make(call(sums, 0, false), loops); // no steps: zeros
}

/// A block of 16 rows of pairs, transposed.
Stmt transposition(const std::string &func, const loop_nest &nest) {
  const auto loaded = only_load(nest.value);
  if (!loaded || nest.loops.size() != 3) fail(func, "what is transposed is no copy");
  place from = *loaded, to = nest.stored;
  const loop_of &row = nest.loops[0], &pair = nest.loops[1], &half = nest.loops[2];
  const auto steps = [](const place &p, const loop_of &loop, int elements) { return p.step(loop).defined() && is_const(p.step(loop), elements); };
  if (!steps(from, row, 1) || !steps(to, pair, 2) || !steps(to, half, 1) || !steps(from, half, 0) || constant_extent(func, pair) != tile_pairs || constant_extent(func, row) % tile_rows != 0)
    fail(func, "its loops are not half, pair and row" + described(nest, {to, from}));
  for (const loop_of &loop : nest.loops)
    if (expr_uses_var(nest.condition, loop.name)) fail(func, "the condition on a copy is not the same in all of a block");
  const Expr from_pair = from.step(pair), to_row = to.step(row);
  for (const loop_of &loop : nest.loops) from.start(loop), to.start(loop);
  const Stmt call = call_hook("attune_transpose_pairs", {tensor_of(from), bytes(from.index, 4), bytes(from_pair, 4), tensor_of(to), bytes(to.index, 2), bytes(to_row, 2), constant_extent(func, row)});
  return is_const_one(nest.condition) ? call : IfThenElse::make(nest.condition, call);
}

/// How the loops of a product's update stand behind those that set it to 0.
class update_of final : public IRVisitor {
public:
  explicit update_of(const std::string &func) : begin_(func + ".s1.") {}
  int parts = 0;
  bool conditional = false; ///< Halide moves a condition out of loops that it does not depend on

private:
  using IRVisitor::visit;
  void visit(const IfThenElse *op) override {
    const bool around = std::exchange(in_condition_, true);
    IRVisitor::visit(op);
    in_condition_ = around;
  }
  void visit(const For *op) override {
    if (!begins_with(op->name, begin_)) return IRVisitor::visit(op);
    ++parts;
    conditional |= in_condition_;
  }

  std::string begin_;
  bool in_condition_ = false;
};
} // namespace

Stmt tile_products::visit(const Block *op) {
  const For *zeros = op->first.as<For>();
  for (const std::string &func : funcs_.products) {
    if (!zeros || !begins_with(zeros->name, func + ".s0.")) continue;
    update_of update(func);
    op->rest.accept(&update);
    if (update.parts > 1) fail(func, "its loops are in " + std::to_string(update.parts) + " parts, each of which would begin at 0");
    const Stmt rest = mutate(op->rest);
    return update.parts == 1 && !update.conditional ? rest : Block::make(op->first, rest); // tiles begin at 0 by themselves
  }
  return IRMutator::visit(op);
}

Stmt tile_products::visit(const For *op) {
  for (const std::string &func : funcs_.products)
    if (begins_with(op->name, func + ".s1.")) {
      if (!in_task_) fail(func, "there is no parallel loop around it, whose tasks would configure them");
      has_tiles_ = true;
      return product_nest(func, op).tiles();
    }
  for (const std::string &func : funcs_.transposed)
    if (begins_with(op->name, func + ".s1."))
      if (const auto nest = nest_of(func, op)) return transposition(func, *nest); // else the loop around such blocks
  return op->for_type == ForType::Parallel ? task(op) : IRMutator::visit(op);
}

/// Tiles are configured once in each task.
Stmt tile_products::task(const For *op) {
  const bool was_in_task = std::exchange(in_task_, true), had_tiles = std::exchange(has_tiles_, false);
  Stmt body = mutate(op->body);
  if (has_tiles_) body = Block::make({call_hook("attune_configure_tiles", {}), body, call_hook("attune_release_tiles", {})});
  in_task_ = was_in_task, has_tiles_ = had_tiles;
  return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, body);
}

} // namespace attune

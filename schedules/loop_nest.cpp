#include "schedules/loop_nest.hpp"
#include <map>

namespace attune {
using namespace Halide;
using namespace Halide::Internal;

namespace {
Expr slope(const Expr &e, const std::string &loop) {
  if (!expr_uses_var(e, loop)) return make_zero(Int(64));
  if (e.as<Variable>()) return make_one(Int(64));
  if (const Cast *c = e.as<Cast>()) return slope(c->value, loop);
  const auto both = [&](const Expr &a, const Expr &b, const auto &combine) {
    const Expr x = slope(a, loop), y = slope(b, loop);
    return x.defined() && y.defined() ? simplify(combine(x, y)) : Expr();
  };
  if (const Add *x = e.as<Add>()) return both(x->a, x->b, [](const Expr &a, const Expr &b) { return a + b; });
  if (const Sub *x = e.as<Sub>()) return both(x->a, x->b, [](const Expr &a, const Expr &b) { return a - b; });
  if (const Mul *x = e.as<Mul>()) {
    const bool first = expr_uses_var(x->a, loop);
    const Expr moves = slope(first ? x->a : x->b, loop), factor = first ? x->b : x->a;
    return moves.defined() && !expr_uses_var(factor, loop) ? simplify(moves * cast<std::int64_t>(factor)) : Expr();
  }
  return Expr();
}

class loads_of final : public IRVisitor {
public:
  std::vector<const Load *> found;

private:
  using IRVisitor::visit;
  void visit(const Load *op) override { found.push_back(op); }
};

bool read(loop_nest &nest, const std::string &func, const Stmt &s, std::map<std::string, Expr> lets) {
  if (const For *loop = s.as<For>()) {
    nest.loops.push_back({loop->name, substitute(lets, loop->min), substitute(lets, loop->extent)});
    return read(nest, func, loop->body, std::move(lets));
  }
  if (const LetStmt *let = s.as<LetStmt>()) {
    const Expr value = substitute(lets, let->value);
    lets[let->name] = value;
    return read(nest, func, let->body, std::move(lets));
  }
  if (const IfThenElse *branch = s.as<IfThenElse>(); branch && !branch->else_case.defined()) {
    nest.condition = simplify(nest.condition && substitute(lets, branch->condition));
    return read(nest, func, branch->then_case, std::move(lets));
  }
  const Store *store = s.as<Store>();
  if (!store || store->name != func) return false;
  nest.value = store->value;
  while (const Let *let = nest.value.as<Let>()) {
    lets[let->name] = substitute(lets, let->value);
    nest.value = let->body;
  }
  nest.value = substitute(lets, nest.value);
  nest.stored = {func, substitute(lets, store->index)};
  return true;
}
} // namespace

Expr place::step(const loop_of &loop) const { return slope(index, loop.name); }
void place::start(const loop_of &loop) { index = substitute(loop.name, loop.min, index); }

std::optional<loop_nest> nest_of(const std::string &func, const Stmt &s) {
  loop_nest nest{{}, const_true(), {}, {}};
  if (!read(nest, func, s, {})) return std::nullopt;
  return nest;
}

std::optional<place> only_load(const Expr &e) {
  loads_of loads;
  e.accept(&loads);
  if (loads.found.size() != 1) return std::nullopt;
  return place{loads.found[0]->name, loads.found[0]->index};
}

} // namespace attune

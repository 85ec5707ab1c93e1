#include "schedules/prefetch_ahead.hpp"
#include <stdexcept>

namespace attune {
using namespace Halide;
using namespace Halide::Internal;

namespace {
/// The index of the first element of a tensor that a statement loads, in terms of what stands outside of it.
class first_load final : public IRVisitor {
public:
  first_load(const std::string &tensor, const std::map<std::string, Expr> &values) : tensor_(tensor), values_(values) {}
  Expr index;
  Type type;

private:
  using IRVisitor::visit;
  void visit(const Load *op) override {
    IRVisitor::visit(op);
    if (op->name != tensor_ || index.defined()) return;
    const Ramp *ramp = op->index.as<Ramp>();
    if (!ramp && !op->index.type().is_scalar()) return;
    index = substitute(values_, ramp ? ramp->base : op->index), type = op->type.element_of();
  }
  template <class Node> void with_value(const std::string &name, const Expr &value, const Node &body) {
    value.accept(this);
    values_[name] = substitute(values_, value);
    body.accept(this);
    values_.erase(name);
  }
  void visit(const Let *op) override { with_value(op->name, op->value, op->body); }
  void visit(const LetStmt *op) override { with_value(op->name, op->value, op->body); }
  void visit(const For *op) override { with_value(op->name, op->min, op->body); }

  const std::string &tensor_;
  std::map<std::string, Expr> values_;
};

constexpr int bytes_of_line = 64;

bool ends_with(const std::string &text, const std::string &end) { return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0; }
} // namespace

Stmt prefetch_ahead::visit(const For *op) {
  const bool is_block = variable_.empty() && ends_with(op->name, "." + what_.block);
  if (is_block) {
    const Expr now = Variable::make(Int(32), op->name);
    variable_ = op->name, later_ = what_.blocks > 0 ? min(now + what_.blocks, op->min + op->extent - 1) : now;
  }
  Stmt body = mutate(op->body);
  if (!variable_.empty() && ends_with(op->name, "." + what_.step)) body = Block::make(fetch(body), body);
  if (is_block) variable_.clear();
  return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, body);
}

Stmt prefetch_ahead::visit(const LetStmt *op) {
  if (variable_.empty()) return IRMutator::visit(op);
  lets_[op->name] = substitute(lets_, op->value);
  const Stmt changed = IRMutator::visit(op);
  lets_.erase(op->name);
  return changed;
}

Stmt prefetch_ahead::fetch(const Stmt &body) const {
  first_load found(what_.tensor, lets_);
  body.accept(&found);
  if (!found.index.defined()) throw std::logic_error("no step of " + what_.step + " loads rows of " + what_.tensor);
  const auto wide = [](const Expr &e) { return cast<std::int64_t>(e); };
  const Expr element = simplify(substitute(variable_, later_, found.index)), first_row = wide(element) + what_.rows_on * wide(what_.stride);
  const Expr tensor = reinterpret<std::int64_t>(Variable::make(Handle(), what_.tensor));
  constexpr int to_read = 0, data = 1;
  std::vector<Stmt> lines; // each by itself: a loop over them takes three instructions for one
  for (int row = 0; row < what_.rows; ++row)
    for (int line = 0; line < what_.bytes; line += bytes_of_line) {
      const Expr address = reinterpret(Handle(), tensor + (first_row + row * wide(what_.stride)) * wide(found.type.bytes()) + line); // any will do
      lines.push_back(Evaluate::make(Call::make(Int(32), "llvm.prefetch.p0", {address, to_read, static_cast<int>(what_.into), data}, Call::Extern)));
    }
  return Block::make(lines);
}

} // namespace attune

#include "schedules/gpu_passes.hpp"
#include <sstream>
#include <stdexcept>

namespace attune {
using namespace Halide;
using namespace Halide::Internal;

namespace {

/// An expression with the lets around it written out.
class with_lets : public IRMutator {
public:
  explicit with_lets(const std::map<std::string, Expr> &lets_) : lets(lets_) {}
  using IRMutator::visit;
  Expr visit(const Variable *v) override {
    const auto let = lets.find(v->name);
    return let == lets.end() ? Expr(v) : mutate(let->second);
  }

private:
  const std::map<std::string, Expr> &lets;
};

/// An index with the lets around it written out and the thread's coordinates set to zero.
class without_threads : public with_lets {
public:
  using with_lets::with_lets;
  using IRMutator::visit;
  Expr visit(const Variable *v) override { return v->name.find(".thread_id_") != std::string::npos ? make_zero(v->type) : with_lets::visit(v); }
};

} // namespace

Stmt private_registers::visit(const LetStmt *op) {
  Expr value = mutate(op->value);
  lets[op->name] = value;
  Stmt body = mutate(op->body);
  lets.erase(op->name);
  return LetStmt::make(op->name, value, body);
}

Expr private_registers::visit(const Let *op) {
  Expr value = mutate(op->value);
  lets[op->name] = value;
  Expr body = mutate(op->body);
  lets.erase(op->name);
  return Let::make(op->name, value, body);
}

Stmt private_registers::visit(const Allocate *op) {
  if (op->memory_type != MemoryType::Register) return IRMutator::visit(op);
  largest_index[op->name] = 0;
  Stmt body = mutate(op->body);
  const int extent = largest_index[op->name] + 1;
  largest_index.erase(op->name);
  return Allocate::make(op->name, op->type, op->memory_type, {extent}, op->condition, body);
}

Expr private_registers::constant_index(const std::string &allocation, const Expr &index) {
  Expr simple = simplify(without_threads(lets).mutate(index));
  const auto constant = as_const_int(simple);
  if (!constant) { std::ostringstream text; text << "gpu_running: the index " << simple << " into the registers of " << allocation << " is not constant"; throw std::logic_error(text.str()); }
  int &largest = largest_index.at(allocation);
  largest = std::max(largest, static_cast<int>(*constant));
  return simple;
}

Expr private_registers::visit(const Load *op) {
  if (!largest_index.count(op->name)) return IRMutator::visit(op);
  return Load::make(op->type, op->name, constant_index(op->name, op->index), op->image, op->param, op->predicate, ModulusRemainder());
}

Stmt private_registers::visit(const Store *op) {
  if (!largest_index.count(op->name)) return IRMutator::visit(op);
  return Store::make(op->name, mutate(op->value), constant_index(op->name, op->index), op->param, op->predicate, ModulusRemainder());
}

cut_key_loop::cut_key_loop(std::string loop_prefix) : prefix(std::move(loop_prefix)) {}

Stmt cut_key_loop::visit(const LetStmt *op) {
  Expr value = mutate(op->value);
  lets[op->name] = value;
  return LetStmt::make(op->name, value, mutate(op->body));
}

Expr cut_key_loop::visit(const Let *op) {
  Expr value = mutate(op->value);
  lets[op->name] = value;
  return Let::make(op->name, value, mutate(op->body));
}

Expr cut_key_loop::visit(const Call *op) {
  if (op->name != key_steps::call) return IRMutator::visit(op);
  const auto written_out = [&](const Expr &e) { return simplify(with_lets(lets).mutate(e)); };
  needed = {written_out(op->args[1]), written_out(op->args[2]), written_out(op->args[3])};
  return mutate(op->args[0]);
}

Stmt cut_key_loop::visit(const For *op) {
  if (!starts_with(op->name, prefix)) return IRMutator::visit(op);
  lets.clear();
  Stmt body = mutate(op->body);
  if (!needed.first.defined()) throw std::logic_error("gpu_running: the loop " + op->name + " does not say which key blocks it needs");
  const std::string start = unique_name("first_step");
  const Expr first = Variable::make(Int(32), start), end = min(op->min + op->extent, needed.end);
  if (!is_const_zero(needed.is_empty)) body = IfThenElse::make(needed.is_empty == 0, body);
  Stmt loop = For::make(op->name, first, max(end - first, 0), op->for_type, op->partition_policy, op->device_api, body);
  return LetStmt::make(start, max(op->min, needed.first), loop);
}

Stmt drop_bounds_checks::visit(const For *op) {
  const bool outer = in_kernel;
  in_kernel = in_kernel || op->for_type == ForType::GPUBlock;
  Stmt s = IRMutator::visit(op);
  in_kernel = outer;
  return s;
}

Stmt drop_bounds_checks::visit(const AssertStmt *op) {
  if (!in_kernel) return op;
  const Call *message = op->message.as<Call>();
  if (message == nullptr || message->name != "halide_error_explicit_bounds_too_small") {
    std::ostringstream text;
    text << "gpu_running: a check is left in the kernel: " << op->condition;
    throw std::logic_error(text.str());
  }
  return Evaluate::make(0);
}

Stmt limit_shared_memory::visit(const For *op) {
  const bool is_kernel = op->for_type == ForType::GPUBlock;
  if (is_kernel) bytes = 0;
  Stmt s = IRMutator::visit(op);
  if (is_kernel && bytes > limit)
    throw std::logic_error("gpu_running: the kernel needs " + std::to_string(bytes) + " bytes of shared memory; " + std::to_string(limit) + " are there");
  return s;
}

Stmt limit_shared_memory::visit(const Allocate *op) {
  if (op->memory_type == MemoryType::GPUShared) {
    Expr size = make_const(Int(64), op->type.bytes());
    for (const Expr &extent : op->extents) size = size * cast<std::int64_t>(extent);
    const auto constant = as_const_int(simplify(size));
    if (!constant) throw std::logic_error("gpu_running: the size of shared allocation " + op->name + " is not constant");
    bytes += *constant;
  }
  return IRMutator::visit(op);
}

} // namespace attune

#include "schedules/gpu_passes.hpp"
#include <sstream>
#include <stdexcept>

namespace attune {
using namespace Halide;
using namespace Halide::Internal;

namespace {

/// An index with the lets around it written out and the thread's coordinates set to zero.
class without_threads : public IRMutator {
public:
  explicit without_threads(const std::map<std::string, Expr> &lets_) : lets(lets_) {}
  using IRMutator::visit;
  Expr visit(const Variable *v) override {
    if (v->name.find(".thread_id_") != std::string::npos) return make_zero(v->type);
    const auto let = lets.find(v->name);
    return let == lets.end() ? Expr(v) : mutate(let->second);
  }

private:
  const std::map<std::string, Expr> &lets;
};

class find_load : public IRVisitor {
public:
  explicit find_load(std::string name_) : name(std::move(name_)) {}
  using IRVisitor::visit;
  void visit(const Load *op) override {
    if (op->name == name && op->type.is_scalar()) found = op;
    IRVisitor::visit(op);
  }
  std::string name;
  Expr found;
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

cut_key_loop::cut_key_loop(std::string loop_prefix, key_steps n) : prefix(std::move(loop_prefix)), needed(std::move(n)) {}

Expr cut_key_loop::in_kernel(const Expr &e, const Expr &step) const {
  std::map<std::string, Expr> values{{key_steps::block, block}, {key_steps::head, head}, {key_steps::batch, batch}};
  if (step.defined()) values[key_steps::step] = step;
  if (key_length.defined()) values[key_steps::key_length] = key_length;
  return substitute(values, e);
}

Stmt cut_key_loop::visit(const For *op) {
  if (op->for_type == ForType::GPUBlock) {
    const Expr index = Variable::make(Int(32), op->name);
    if (ends_with(op->name, ".block_id_x")) block = index;
    if (ends_with(op->name, ".block_id_y")) head = index;
    if (ends_with(op->name, ".block_id_z")) batch = index;
    if (!key_length.defined()) {
      find_load length("key_lengths");
      op->accept(&length);
      key_length = length.found;
    }
  }
  if (!starts_with(op->name, prefix)) return IRMutator::visit(op);
  const std::string start = unique_name("first_step");
  const Expr first = Variable::make(Int(32), start);
  const Expr end = min(op->min + op->extent, in_kernel(needed.end, Expr()));
  Stmt body = op->body;
  if (!is_const_zero(needed.is_empty)) body = IfThenElse::make(!in_kernel(needed.is_empty, Variable::make(Int(32), op->name)), body);
  Stmt loop = For::make(op->name, first, max(end - first, 0), op->for_type, op->partition_policy, op->device_api, body);
  return LetStmt::make(start, max(op->min, in_kernel(needed.first, Expr())), loop);
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

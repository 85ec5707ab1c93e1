// What Halide 21's own lowering does not do for the GPU family: four passes over the lowered kernel.
#pragma once
#include "dsl/pipeline/gpu_attention.hpp"
#include <map>
#include <set>
#include <string>

namespace attune {

/// Keeps the state and the scores in registers. Halide indexes a register allocation made at block level with the thread's
/// coordinates, which LLVM can't promote (28 KB of local memory per thread); each thread only touches its own part, so the
/// coordinates may be set to zero. Throws if an index stays that is not a constant.
class private_registers : public Halide::Internal::IRMutator {
public:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt *) override;
  Halide::Expr visit(const Halide::Internal::Let *) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Allocate *) override;
  Halide::Expr visit(const Halide::Internal::Load *) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Store *) override;

private:
  Halide::Expr constant_index(const std::string &allocation, const Halide::Expr &index);
  std::map<std::string, Halide::Expr> lets;
  std::map<std::string, int> largest_index; ///< of the register allocations in scope
};

/// Cuts the loop over key blocks to what the mask needs, and skips empty steps inside it, as the call of key_steps says that stands in
/// the loop. An RDom::where that depends on the tile of queries would make shared allocations dynamic. All threads of a block take the
/// same steps, barriers included.
class cut_key_loop : public Halide::Internal::IRMutator {
public:
  explicit cut_key_loop(std::string loop_prefix);
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *) override;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt *) override;
  Halide::Expr visit(const Halide::Internal::Let *) override;
  Halide::Expr visit(const Halide::Internal::Call *) override;

private:
  std::string prefix;
  std::map<std::string, Halide::Expr> lets; ///< inside the loop
  key_steps needed;                         ///< as the loop says it, its lets written out
};

/// Takes Halide's checks of explicit bounds out of the kernel, where the code generators drop them anyway (OpenCL's with a
/// warning). Throws for any other check: only host code can report one.
class drop_bounds_checks : public Halide::Internal::IRMutator {
public:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *) override;
  Halide::Internal::Stmt visit(const Halide::Internal::AssertStmt *) override;

private:
  bool in_kernel = false;
};

/// Throws if the kernel, as Halide laid it out, needs more shared memory than `limit` bytes or a size that is not constant.
class limit_shared_memory : public Halide::Internal::IRMutator {
public:
  explicit limit_shared_memory(std::int64_t limit_) : limit(limit_) {}
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Allocate *) override;

private:
  std::int64_t limit, bytes = 0;
};

} // namespace attune

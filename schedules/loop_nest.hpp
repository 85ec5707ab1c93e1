// Loops around one store, as a lowering pass finds them, and how indices move in them.
#pragma once
#include "Halide.h"
#include <optional>
#include <string>
#include <vector>

namespace attune {

/// A loop, its limits in terms of what stands outside of the nest, and of its outer loops.
struct loop_of {
  std::string name;
  Halide::Expr min, extent;
};

/// An element's index in one tensor, as a function of the loops.
struct place {
  std::string tensor;
  Halide::Expr index;

  /// How far it moves in a step of the loop, 64 bits; undefined if that is not the same in every step.
  Halide::Expr step(const loop_of &) const;
  void start(const loop_of &);
};

/// Nothing but loops, conditions without an else, and a store of `func`. Values of lets are put in their places.
struct loop_nest {
  std::vector<loop_of> loops; ///< outermost first
  Halide::Expr condition;     ///< all of them; true if there is none
  place stored;
  Halide::Expr value;
};
std::optional<loop_nest> nest_of(const std::string &func, const Halide::Internal::Stmt &);

/// The one element that an expression loads; none if it loads none, or several.
std::optional<place> only_load(const Halide::Expr &);

} // namespace attune

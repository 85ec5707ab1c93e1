// A user's function read with Halide expressions: what the pipeline computes. A symbol is an Expr that takes C++ numbers
// of any kind: double literals become f32, as every score is.
#pragma once
#include "Halide.h"
#include "dsl/pipeline/elementary.hpp"
#include <type_traits>

namespace attune {

class symbol {
public:
  explicit symbol(Halide::Expr e) : expression(std::move(e)) {}
  template <class T> requires std::is_arithmetic_v<T> symbol(T x) {
    if constexpr (std::is_same_v<T, bool>) expression = Halide::Internal::make_bool(x);
    else if constexpr (std::is_floating_point_v<T>) expression = Halide::Expr(static_cast<float>(x));
    else expression = Halide::Internal::make_const(Halide::Int(32), static_cast<std::int64_t>(x));
  }
  /// As it is: a condition is a boolean expression.
  const Halide::Expr &expr() const { return expression; }
  /// As a number: a condition counts 0 or 1.
  Halide::Expr number() const { return is_condition() ? Halide::cast<int>(expression) : expression; }
  /// As a condition: a number holds where it is not zero.
  Halide::Expr condition() const { return is_condition() ? expression : expression != 0; }
  bool is_condition() const { return expression.type().is_bool(); }

private:
  Halide::Expr expression;
};

inline symbol operator+(const symbol &a, const symbol &b) { return symbol(a.number() + b.number()); }
inline symbol operator-(const symbol &a, const symbol &b) { return symbol(a.number() - b.number()); }
inline symbol operator*(const symbol &a, const symbol &b) { return symbol(a.number() * b.number()); }
inline symbol operator/(const symbol &a, const symbol &b) { return symbol(a.number() / b.number()); }
inline symbol operator%(const symbol &a, const symbol &b) { return symbol(a.number() % b.number()); }
inline symbol &operator+=(symbol &a, const symbol &b) { return a = a + b; }
inline symbol &operator-=(symbol &a, const symbol &b) { return a = a - b; }
inline symbol &operator*=(symbol &a, const symbol &b) { return a = a * b; }
inline symbol &operator/=(symbol &a, const symbol &b) { return a = a / b; }
inline symbol operator<(const symbol &a, const symbol &b) { return symbol(a.number() < b.number()); }
inline symbol operator>(const symbol &a, const symbol &b) { return symbol(a.number() > b.number()); }
inline symbol operator<=(const symbol &a, const symbol &b) { return symbol(a.number() <= b.number()); }
inline symbol operator>=(const symbol &a, const symbol &b) { return symbol(a.number() >= b.number()); }
inline symbol operator==(const symbol &a, const symbol &b) { return symbol(a.number() == b.number()); }
inline symbol operator!=(const symbol &a, const symbol &b) { return symbol(a.number() != b.number()); }
inline symbol operator&&(const symbol &a, const symbol &b) { return symbol(a.condition() && b.condition()); }
inline symbol operator||(const symbol &a, const symbol &b) { return symbol(a.condition() || b.condition()); }
inline symbol operator!(const symbol &a) { return symbol(!a.condition()); }
inline symbol operator-(const symbol &a) { return symbol(-a.number()); }

inline symbol min(const symbol &a, const symbol &b) { return symbol(Halide::min(a.number(), b.number())); }
inline symbol max(const symbol &a, const symbol &b) { return symbol(Halide::max(a.number(), b.number())); }
/// Halide's abs of an i32 is unsigned; a user's stays signed.
inline symbol abs(const symbol &a) { return symbol(Halide::cast(a.number().type(), Halide::abs(a.number()))); }
inline symbol exp(const symbol &a) { return symbol(exp_expr(Halide::cast<float>(a.number()))); }
inline symbol tanh(const symbol &a) { return symbol(tanh_expr(Halide::cast<float>(a.number()))); }
inline symbol select(const symbol &c, const symbol &a, const symbol &b) {
  if (a.is_condition() && b.is_condition()) return symbol(Halide::select(c.condition(), a.expr(), b.expr()));
  return symbol(Halide::select(c.condition(), a.number(), b.number()));
}

} // namespace attune

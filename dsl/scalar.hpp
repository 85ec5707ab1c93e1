// A user's function read with numbers: the scalar reference. Three types keep what Halide's own types keep apart: real
// (double here), whole (an index) and truth. Whole numbers divide as Halide's do: the remainder is never negative, so that
// division by a positive number rounds down, and division by zero gives zero.
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace attune::language {

struct real { double v; };
struct whole { std::int64_t v; };
struct truth { bool v; };

template <class T> inline constexpr bool is_scalar =
    std::is_same_v<T, real> || std::is_same_v<T, whole> || std::is_same_v<T, truth>;
template <class T> inline constexpr bool is_condition = std::is_same_v<T, truth> || std::is_same_v<T, bool>;
template <class T> concept scalar_value = is_scalar<T> || std::is_arithmetic_v<T>;
/// Of two operands at least one is a scalar; the other may be a C++ number.
template <class R, class L> concept scalar_beside = scalar_value<L> && scalar_value<R> && (is_scalar<L> || is_scalar<R>);

constexpr double number(real x) { return x.v; }
constexpr std::int64_t number(whole x) { return x.v; }
constexpr std::int64_t number(truth x) { return x.v; }
template <class T> requires std::is_arithmetic_v<T> constexpr auto number(T x) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<double>(x);
  else return static_cast<std::int64_t>(x);
}
constexpr real wrapped(double x) { return {x}; }
constexpr whole wrapped(std::int64_t x) { return {x}; }
/// What two operands become before they meet: double if one is real, else int64.
template <class L, class R> using common = std::common_type_t<decltype(number(L{})), decltype(number(R{}))>;
template <class Other, class T> constexpr auto lift(T x) { return common<T, Other>(number(x)); }
template <class T> constexpr bool holds(T x) { return number(x) != 0; }

constexpr std::int64_t remainder(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  const std::int64_t r = a % b;
  return r < 0 ? r + (b < 0 ? -b : b) : r;
}
constexpr std::int64_t quotient(std::int64_t a, std::int64_t b) { return b == 0 ? 0 : (a - remainder(a, b)) / b; }
constexpr double quotient(double a, double b) { return a / b; }
inline double remainder(double a, double b) { return a - b * std::floor(a / b); }

template <class L, scalar_beside<L> R> constexpr auto operator+(L a, R b) { return wrapped(lift<R>(a) + lift<L>(b)); }
template <class L, scalar_beside<L> R> constexpr auto operator-(L a, R b) { return wrapped(lift<R>(a) - lift<L>(b)); }
template <class L, scalar_beside<L> R> constexpr auto operator*(L a, R b) { return wrapped(lift<R>(a) * lift<L>(b)); }
template <class L, scalar_beside<L> R> constexpr auto operator/(L a, R b) { return wrapped(quotient(lift<R>(a), lift<L>(b))); }
template <class L, scalar_beside<L> R> constexpr auto operator%(L a, R b) { return wrapped(remainder(lift<R>(a), lift<L>(b))); }
template <scalar_value R> constexpr real &operator+=(real &a, R b) { return a = wrapped(a.v + lift<real>(b)); }
template <scalar_value R> constexpr real &operator-=(real &a, R b) { return a = wrapped(a.v - lift<real>(b)); }
template <scalar_value R> constexpr real &operator*=(real &a, R b) { return a = wrapped(a.v * lift<real>(b)); }
template <scalar_value R> constexpr real &operator/=(real &a, R b) { return a = wrapped(a.v / lift<real>(b)); }
template <class L, scalar_beside<L> R> constexpr truth operator<(L a, R b) { return {lift<R>(a) < lift<L>(b)}; }
template <class L, scalar_beside<L> R> constexpr truth operator>(L a, R b) { return b < a; }
template <class L, scalar_beside<L> R> constexpr truth operator<=(L a, R b) { return {lift<R>(a) <= lift<L>(b)}; }
template <class L, scalar_beside<L> R> constexpr truth operator>=(L a, R b) { return b <= a; }
template <class L, scalar_beside<L> R> constexpr truth operator==(L a, R b) { return {lift<R>(a) == lift<L>(b)}; }
template <class L, scalar_beside<L> R> constexpr truth operator!=(L a, R b) { return {!(a == b).v}; }
template <class L, scalar_beside<L> R> constexpr truth operator&&(L a, R b) { return {holds(a) && holds(b)}; }
template <class L, scalar_beside<L> R> constexpr truth operator||(L a, R b) { return {holds(a) || holds(b)}; }
template <class T> requires is_scalar<T> constexpr truth operator!(T a) { return {!holds(a)}; }
template <class T> requires is_scalar<T> constexpr auto operator-(T a) { return wrapped(-number(a)); }

template <class L, scalar_beside<L> R> constexpr auto min(L a, R b) { return wrapped((b < a).v ? lift<L>(b) : lift<R>(a)); }
template <class L, scalar_beside<L> R> constexpr auto max(L a, R b) { return wrapped((a < b).v ? lift<L>(b) : lift<R>(a)); }
template <class T> requires is_scalar<T> constexpr auto abs(T a) { return wrapped(number(a) < 0 ? -number(a) : number(a)); }
template <class T> requires is_scalar<T> real exp(T a) { return {std::exp(static_cast<double>(number(a)))}; }
template <class T> requires is_scalar<T> real tanh(T a) { return {std::tanh(static_cast<double>(number(a)))}; }

/// Conditions stay a condition, all else becomes a number.
template <class C, scalar_value L, scalar_value R> requires is_scalar<C> constexpr auto select(C c, L a, R b) {
  if constexpr (is_condition<L> && is_condition<R>) return truth{holds(c) ? holds(a) : holds(b)};
  else return wrapped(holds(c) ? lift<R>(a) : lift<L>(b));
}

} // namespace attune::language

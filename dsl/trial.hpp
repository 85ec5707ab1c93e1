// The third way to read a user's function: no values, only kinds. The language uses it while it checks a spec, so that a
// wrong function is named there in one sentence, not somewhere inside the pipeline.
#pragma once
#include "dsl/lists.hpp"
#include "dsl/position.hpp"
#include "dsl/properties.hpp"
#include <type_traits>

namespace attune::language {

enum class kind { nothing, number, condition, unknown };

/// A value of which only the kind is known. Problem is none, or the first wrong read of an input on the way to it.
template <kind Kind, class Problem = none> struct trial {
  constexpr trial() = default;
  /// Not constexpr on purpose: `?:`, `if` and std::exp then stop the function from being a constant, and that is how
  /// rules::reads_symbols sees them. (Without conversions, each would be an error of its own with dozens of lines.)
  explicit operator bool() const { return true; }
  operator double() const { return 0; }
};
using trial_number = trial<kind::number>;

/// Wrong with a value: what was compared was a condition already, as in 0 <= x < 8.
struct chained_comparison {};
/// What can be wrong with a read of an input.
template <class Tag> struct undeclared_input {};
template <class Tag, int Axes, int Indices> struct wrong_index_count {};

template <class T> struct trial_traits {
  static constexpr bool is_trial = false;
  static constexpr kind of_kind = std::is_same_v<T, bool>   ? kind::condition
                                  : std::is_arithmetic_v<T> ? kind::number
                                                            : kind::nothing;
  using problem = none;
};
template <kind K, class P> struct trial_traits<trial<K, P>> {
  static constexpr bool is_trial = true;
  static constexpr kind of_kind = K;
  using problem = P;
};

template <class T> concept trial_value = trial_traits<T>::is_trial || std::is_arithmetic_v<T>;
template <class L, class R> concept trial_pair =
    trial_value<L> && trial_value<R> && (trial_traits<L>::is_trial || trial_traits<R>::is_trial);
template <class... T> using problem_in = first_culprit<typename trial_traits<T>::problem...>;
template <class... T> using tried_number = trial<kind::number, problem_in<T...>>;
template <class... T> using tried_condition = trial<kind::condition, problem_in<T...>>;
template <class L, class R> inline constexpr bool orders_a_condition = trial_traits<L>::of_kind == kind::condition || trial_traits<R>::of_kind == kind::condition;
template <class L, class R> using tried_order =
    trial<kind::condition, first_culprit<problem_in<L, R>, std::conditional_t<orders_a_condition<L, R>, chained_comparison, none>>>;
template <class L, class R> using tried_either =
    trial<trial_traits<L>::of_kind == trial_traits<R>::of_kind ? trial_traits<L>::of_kind : kind::number, problem_in<L, R>>;

template <class L, class R> requires trial_pair<L, R> constexpr tried_number<L, R> operator+(L, R) { return {}; }
template <class L, class R> requires trial_pair<L, R> constexpr tried_number<L, R> operator-(L, R) { return {}; }
template <class L, class R> requires trial_pair<L, R> constexpr tried_number<L, R> operator*(L, R) { return {}; }
template <class L, class R> requires trial_pair<L, R> constexpr tried_number<L, R> operator/(L, R) { return {}; }
template <class L, class R> requires trial_pair<L, R> constexpr tried_number<L, R> operator%(L, R) { return {}; }
template <class L, class R> requires trial_pair<L, R> constexpr tried_order<L, R> operator<(L, R) { return {}; }
template <class L, class R> requires trial_pair<L, R> constexpr tried_order<L, R> operator>(L, R) { return {}; }
template <class L, class R> requires trial_pair<L, R> constexpr tried_order<L, R> operator<=(L, R) { return {}; }
template <class L, class R> requires trial_pair<L, R> constexpr tried_order<L, R> operator>=(L, R) { return {}; }
template <class L, class R> requires trial_pair<L, R> constexpr tried_condition<L, R> operator==(L, R) { return {}; }
template <class L, class R> requires trial_pair<L, R> constexpr tried_condition<L, R> operator!=(L, R) { return {}; }
template <class L, class R> requires trial_pair<L, R> constexpr tried_condition<L, R> operator&&(L, R) { return {}; }
template <class L, class R> requires trial_pair<L, R> constexpr tried_condition<L, R> operator||(L, R) { return {}; }
template <class L, class R> requires trial_pair<L, R> constexpr tried_number<L, R> min(L, R) { return {}; }
template <class L, class R> requires trial_pair<L, R> constexpr tried_number<L, R> max(L, R) { return {}; }
/// Assignments keep the type of what they change.
template <class L, class R> concept trial_assignment = trial_traits<L>::is_trial && std::is_same_v<tried_number<L, R>, L>;
template <class L, class R> requires trial_assignment<L, R> constexpr L &operator+=(L &a, R) { return a; }
template <class L, class R> requires trial_assignment<L, R> constexpr L &operator-=(L &a, R) { return a; }
template <class L, class R> requires trial_assignment<L, R> constexpr L &operator*=(L &a, R) { return a; }
template <class L, class R> requires trial_assignment<L, R> constexpr L &operator/=(L &a, R) { return a; }
template <kind K, class P> constexpr trial<kind::condition, P> operator!(trial<K, P>) { return {}; }
template <kind K, class P> constexpr trial<kind::number, P> operator-(trial<K, P>) { return {}; }
template <kind K, class P> constexpr trial<kind::number, P> exp(trial<K, P>) { return {}; }
template <kind K, class P> constexpr trial<kind::number, P> tanh(trial<K, P>) { return {}; }
template <kind K, class P> constexpr trial<kind::number, P> abs(trial<K, P>) { return {}; }
template <kind K, class P, trial_value L, trial_value R>
constexpr trial<trial_traits<tried_either<L, R>>::of_kind, problem_in<trial<K, P>, L, R>> select(trial<K, P>, L, R) { return {}; }

// ---- reading inputs on trial

/// Before the spec's inputs are known: every read gives a value.
struct read_anything {
  template <class Tag, class... I> constexpr trial<kind::unknown> operator()(Tag, I...) const { return {}; }
};
/// Once they are known, as a list of properties: a wrong read becomes the value's problem.
template <class... Input> struct read_declared {
  template <class Tag, class... I> constexpr auto operator()(Tag, I...) const {
    return look_up<Tag, sizeof...(I)>(Input{}...);
  }
private:
  template <class Tag, int Indices> static constexpr trial<kind::number, undeclared_input<Tag>> look_up() { return {}; }
  template <class Tag, int Indices, class First, class... Rest> static constexpr auto look_up(First, Rest... rest) {
    if constexpr (std::is_same_v<typename key_of<First>::type, key::input<Tag>>) return found<Tag, Indices>(First{});
    else return look_up<Tag, Indices>(rest...);
  }
  template <class Tag, int Indices, auto Element, auto... Axis>
  static constexpr auto found(property<key::input<Tag>, Element, Axis...>) {
    constexpr int axes = sizeof...(Axis);
    return trial<kind::number, std::conditional_t<axes == Indices, none, wrong_index_count<Tag, axes, Indices>>>{};
  }
};
template <class Read> using trial_position = place<trial_number, Read>;

/// The type that F returns on trial: as a score function f(score, at), or as a mask function f(at).
template <class F, class Read> constexpr auto try_function(function<F>, Read) {
  if constexpr (std::is_invocable_v<F, trial_number, trial_position<Read>>) {
    if constexpr (!std::is_void_v<decltype(F{}(trial_number{}, trial_position<Read>{}))>)
      return F{}(trial_number{}, trial_position<Read>{});
  } else if constexpr (!std::is_void_v<decltype(F{}(trial_position<Read>{}))>) return F{}(trial_position<Read>{});
}

} // namespace attune::language

// Small questions about packs of types. Kept apart from Hana, which answers them with long diagnostics.
#pragma once
#include <type_traits>

namespace attune::language {

template <class... T> struct types {};
template <class... T, class... U> types<T..., U...> operator+(types<T...>, types<U...>);

/// "No culprit": what a search returns when no element is at fault.
struct none {};

template <class T> struct identity { using type = T; };

template <class T, class List> inline constexpr bool contains = false;
template <class T, class... U> inline constexpr bool contains<T, types<U...>> = (std::is_same_v<T, U> || ...);

/// The first element for which Bad<element>::value holds, or none.
template <template <class> class Bad, class... T> struct first { using type = none; };
template <template <class> class Bad, class T, class... Rest>
struct first<Bad, T, Rest...> : std::conditional_t<Bad<T>::value, identity<T>, first<Bad, Rest...>> {};

/// The first of several search results that is a culprit.
template <class T> struct is_culprit : std::bool_constant<!std::is_same_v<T, none>> {};
template <class... T> using first_culprit = typename first<is_culprit, T...>::type;

/// Position of T in a list; the list's length where it is missing.
template <class T, class... U> constexpr int index_in(types<U...>) {
  int found = 0;
  static_cast<void>(((std::is_same_v<T, U> ? false : (++found, true)) && ...));
  return found;
}

} // namespace attune::language

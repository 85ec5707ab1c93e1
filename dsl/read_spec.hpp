// What a reader asks of a complete spec: the spec itself, and its inputs as declarations.
#pragma once
#include "dsl/chain.hpp"
#include "dsl/signature.hpp"
#include "dsl/spec_name.hpp"
#include <vector>

namespace attune::language {

namespace rules {
/// Whether a value is a whole spec, or `invalid`, of which all has been said.
template <class Written> inline constexpr bool whole_spec = std::is_base_of_v<numbers, Written>;
} // namespace rules

template <class Tag, element_type E, axis_name... A>
constexpr input_declaration declaration_of(property<key::input<Tag>, E, A...>) {
  return {short_name<Tag>::value, role_of<Tag>, E, sizeof...(A), {A...}};
}
template <element_type E, axis_name... A> constexpr input_declaration declaration_of(property<key::boolean, E, A...>) {
  return {"boolean_mask", tensor_role::boolean_mask, E, sizeof...(A), {A...}};
}
template <element_type E, axis_name... A> constexpr input_declaration declaration_of(property<key::additive, E, A...>) {
  return {"additive_mask", tensor_role::additive_mask, E, sizeof...(A), {A...}};
}
template <element_type E, axis_name... A> constexpr input_declaration declaration_of(property<key::sinks, E, A...>) {
  return {"sinks", tensor_role::sinks, E, sizeof...(A), {A...}};
}
template <class... P> std::vector<input_declaration> declarations_of(types<P...>) { return {declaration_of(P{})...}; }

/// Where input<Tag> stands among a spec's inputs, and how it is stored.
template <class Tag> struct input_search {
  template <class P> struct is_it : std::bool_constant<std::is_same_v<typename key_of<P>::type, key::input<Tag>>> {};
};
template <class Tag, class... P> constexpr int input_number(types<P...>) {
  using found = typename first<input_search<Tag>::template is_it, P...>::type;
  return index_in<found>(types<P...>{});
}
template <class Tag, class... P> constexpr element_type input_element(types<P...>) {
  using found = typename first<input_search<Tag>::template is_it, P...>::type;
  return declaration_of(found{}).element;
}

} // namespace attune::language

// From a spec struct to the description that the pipeline is built from: the flat numbers, and the user's functions on
// Halide expressions.
#pragma once
#include "dsl/spec.hpp"
#include "dsl/pipeline/operator_description.hpp"
#include "dsl/pipeline/symbol.hpp"

namespace attune {
namespace language {

/// at(tag{}, indices...) with expressions.
template <class Inputs> struct symbol_input {
  const input_reader &read;
  template <class Tag, class... I> symbol operator()(Tag, const I &...indices) const {
    return symbol(read(input_number<Tag>(Inputs{}), {Halide::cast<int>(symbol(indices).number())...}));
  }
};
template <class Inputs> place<symbol, symbol_input<Inputs>> symbol_position(const position_expr &at, const input_reader &read) {
  return {symbol(at.batch), symbol(at.head), symbol(at.query), symbol(at.key), symbol(at.kv_head), symbol(at.position), symbol(at.query_count), symbol(at.key_count), {read}};
}

template <class Inputs, class... F> void add_score_functions(operator_description &d, types<function<F>...>) {
  (d.score_functions.push_back([](Halide::Expr score, const position_expr &at, const input_reader &read) {
    return Halide::cast<float>(symbol(F{}(symbol(score), symbol_position<Inputs>(at, read))).number());
  }), ...);
}
template <class Inputs, class... F> void add_mask_functions(operator_description &d, types<function<F>...>) {
  (d.mask_functions.push_back([](const position_expr &at, const input_reader &read) {
    return symbol(F{}(symbol_position<Inputs>(at, read))).condition();
  }), ...);
}

} // namespace language

/// The operator that a spec struct describes, for the pipeline and everything behind it.
template <class Spec> operator_description describe() {
  constexpr auto spec = Spec::spec;
  using flat = std::remove_const_t<decltype(spec)>;
  static_assert(language::rules::whole_spec<flat>, "a spec ends with weighted_sum(...), or with project_out(...) after that");
  operator_description d;
  if constexpr (requires { typename flat::inputs; }) {
    using inputs = typename flat::inputs;
    d.name = spec_name<Spec>();
    d.n = spec;
    d.inputs = language::declarations_of(inputs{});
    language::add_score_functions<inputs>(d, typename flat::score_functions{});
    language::add_mask_functions<inputs>(d, typename flat::mask_functions{});
  }
  return d;
}

template <class... Specs> std::vector<operator_description> describe_all(spec_list<Specs...>) { return {describe<Specs>()...}; }

} // namespace attune

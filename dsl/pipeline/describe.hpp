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
template <class Inputs> position<symbol, symbol_input<Inputs>> symbol_position(const position_expr &at, const input_reader &read) {
  return {symbol(at.batch), symbol(at.head), symbol(at.query), symbol(at.key), {read}};
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
  static_assert(language::rules::has_whole_spec<Spec>,
                "a spec struct has `static constexpr auto spec = operands(...) | ... | weighted_sum(...);`, with every stage up to that one");
  constexpr auto spec = language::spec_of<Spec>();
  using flat = std::remove_const_t<decltype(spec)>;
  operator_description d;
  if constexpr (!std::is_same_v<flat, language::invalid>) {
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

// From a spec struct to the operator that the scalar reference evaluates: the flat numbers, and the user's functions in
// double precision. No Halide.
#pragma once
#include "dsl/spec.hpp"
#include "dsl/reference/reference_operator.hpp"
#include "dsl/scalar.hpp"

namespace attune {
namespace language {

/// at(tag{}, indices...) with numbers, whole or real as the input's element is.
template <class Inputs> struct scalar_input {
  const scalar_reader &read;
  template <class Tag, class... I> auto operator()(Tag, I... indices) const {
    constexpr int input = input_number<Tag>(Inputs{});
    const double value = read(input, {static_cast<std::int64_t>(number(indices))...});
    if constexpr (is_whole(input_element<Tag>(Inputs{}))) return whole{static_cast<std::int64_t>(value)};
    else return real{value};
  }
};
template <class Inputs> place<whole, scalar_input<Inputs>> scalar_position(const position_index &at, const scalar_reader &read) {
  return {{at.batch}, {at.head}, {at.query}, {at.key}, {at.kv_head}, {at.position}, {at.query_count}, {at.key_count}, {read}};
}

template <class Inputs, class... F> void add_score_functions(reference_operator &op, types<function<F>...>) {
  (op.score_functions.push_back([](double score, const position_index &at, const scalar_reader &read) {
    return static_cast<double>(number(F{}(real{score}, scalar_position<Inputs>(at, read))));
  }), ...);
}
template <class Inputs, class... F> void add_mask_functions(reference_operator &op, types<function<F>...>) {
  (op.mask_functions.push_back([](const position_index &at, const scalar_reader &read) {
    return holds(F{}(scalar_position<Inputs>(at, read)));
  }), ...);
}

} // namespace language

/// The operator that a spec struct describes, for evaluation in double precision.
template <class Spec> reference_operator refer() {
  constexpr auto spec = Spec::spec;
  using flat = std::remove_const_t<decltype(spec)>;
  static_assert(language::rules::whole_spec<flat>, "a spec ends with weighted_sum(...), or with project_out(...) after that");
  reference_operator op;
  if constexpr (requires { typename flat::inputs; }) {
    using inputs = typename flat::inputs;
    op.name = spec_name<Spec>();
    op.n = spec;
    op.inputs = language::declarations_of(inputs{});
    language::add_score_functions<inputs>(op, typename flat::score_functions{});
    language::add_mask_functions<inputs>(op, typename flat::mask_functions{});
  }
  return op;
}

template <class... Specs> std::vector<reference_operator> refer_all(spec_list<Specs...>) { return {refer<Specs>()...}; }

} // namespace attune

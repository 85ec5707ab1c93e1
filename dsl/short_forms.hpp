// attention(...) and layer(...): all properties in any order, spread over the usual chain.
//   attention   operands | scores | mask | softmax | weighted_sum
//   layer       project  | scores | mask | softmax | weighted_sum | project_out
// with rope before scores where one of its properties is given.
// A function of two arguments is a score function, one of one argument a mask function. In layer, model_dim is that of the
// hidden states and of the output, and bias adds one to all four projections; what differs is written as a chain.
#pragma once
#include "dsl/chain.hpp"
#include "dsl/stage_maker.hpp"

namespace attune::language {

template <class P> inline constexpr bool is_score_function = std::is_invocable_v<P, trial_number, trial_position<read_anything>>;

/// Whether a stage is where this property belongs.
template <class Tag, class P> constexpr bool belongs_to() {
  if constexpr (is_property<P>) {
    using family = typename family_of<typename key_of<P>::type>::type;
    return contains<family, typename Tag::takes> || contains<family, typename Tag::needs>;
  } else if constexpr (std::is_class_v<P> && std::is_empty_v<P>) {
    constexpr auto kind = is_score_function<P> ? takes_functions::of_score : takes_functions::of_position;
    return Tag::functions == kind;
  } else return false;
}

/// Those of the properties that belong to a stage.
template <class Tag, class... P> using gathered =
    decltype((types<>{} + ... + std::conditional_t<belongs_to<Tag, P>(), types<P>, types<>>{}));

template <class Source, class... P> struct short_form_check {
  template <class X> struct is_homeless
      : std::bool_constant<!(belongs_to<Source, X>() || belongs_to<rope_stage, X>() || belongs_to<scores_stage, X>() || belongs_to<mask_stage, X>() ||
                             belongs_to<softmax_stage, X>() || belongs_to<weighted_sum_stage, X>())> {};
  using homeless = typename first<is_homeless, P...>::type;
};

/// A rope stage only where one of its properties is given. Not a function around the joint, which would lengthen each diagnostic.
struct no_rope : chain_part {
  constexpr no_rope operator()(types<>) const { return {}; }
};
template <class Given> using rope_maker = std::conditional_t<std::is_same_v<Given, types<>>, no_rope, stage_maker<rope_stage>>;
template <class Chain>
  requires(!std::is_same_v<Chain, invalid>)
constexpr Chain operator|(Chain source, no_rope) { return source; }

template <class Source> struct short_form {
  template <class... P> constexpr auto operator()(P...) const {
    using homeless = typename short_form_check<Source, P...>::homeless;
    static_assert(rules::form_takes<Source, homeless>, "a short form is made of properties, such as heads<12>, and of functions "
                                                       "that capture nothing; this one has no place here");
    if constexpr (!rules::form_takes<Source, homeless>) {
      return invalid{};
    } else {
      const auto source = stage_maker<Source>{}(gathered<Source, P...>{});
      const auto positioned = source | rope_maker<gathered<rope_stage, P...>>{}(gathered<rope_stage, P...>{});
      const auto scored = positioned | stage_maker<scores_stage>{}(gathered<scores_stage, P...>{});
      const auto masked = scored | stage_maker<mask_stage>{}(gathered<mask_stage, P...>{});
      const auto weighted = masked | stage_maker<softmax_stage>{}(gathered<softmax_stage, P...>{});
      const auto spec = weighted | stage_maker<weighted_sum_stage>{}(gathered<weighted_sum_stage, P...>{});
      if constexpr (!std::is_same_v<Source, project_stage>) return spec;
      else if constexpr (times<key::bias, P...> > 0) return spec | stage_maker<project_out_stage>{}(bias);
      else return spec | stage_maker<project_out_stage>{}();
    }
  }
};

} // namespace attune::language

namespace attune {

inline constexpr language::short_form<language::operands_stage> attention{};
inline constexpr language::short_form<language::project_stage> layer{};

} // namespace attune

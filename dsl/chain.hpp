// Joining stages with `|`. The good overloads are constrained and never fail. Where they drop out, an overload takes over
// whose parameters are the stages' small bases; it holds the assertions and returns `invalid`. (Rules as constraints alone
// make a compiler print every overload; assertions inside the good overload drag the whole chain into each message.)
#pragma once
#include "dsl/conditions.hpp"
#include "dsl/flat.hpp"
#include "dsl/trial.hpp"

namespace attune::language {

namespace rules {
template <> inline constexpr bool starts_a_spec<operands_stage> = true;
template <> inline constexpr bool starts_a_spec<project_stage> = true;
template <class Next, class Last>
  requires(Next::where != slot::sum || Last::where == slot::weights)
inline constexpr bool has_weights_before<Next, Last> = true;
template <class Weights>
  requires(!std::is_same_v<Weights, sigmoid_stage>)
inline constexpr bool lse_exists<Weights, true> = true;
template <class Next, class Source>
  requires(Next::where != slot::output || std::is_same_v<Source, project_stage>)
inline constexpr bool starts_with_project<Next, Source> = true;
template <int HeadDim, bool C, int Dims, bool K>
inline constexpr bool head_has_pairs<key_facts<HeadDim, C>, rotation<Dims, K>> = Dims == 0 ? HeadDim % 2 == 0 : Dims <= HeadDim;
template <int Dims> inline constexpr bool keys_come_rotated<project_stage, rotation<Dims, true>> = false;
template <int HeadDim, int Dims> inline constexpr bool cached_keys_come_rotated<key_facts<HeadDim, true>, rotation<Dims, false>> = false;
template <class Next, class Last>
  requires((Next::where == slot::output) == (Last::where == slot::sum))
inline constexpr bool has_sum_before<Next, Last> = true;
template <class Problem> inline constexpr bool compares_numbers = !std::is_same_v<Problem, chained_comparison>;
} // namespace rules

// ---- what functions return once the spec's inputs are known

template <class... Declared> read_declared<Declared...> reader_of(types<Declared...>);

template <class Tag, class F, class Read> struct outcome {
  using returned = decltype(try_function(F{}, Read{}));
  using problem = typename trial_traits<returned>::problem;
  static constexpr kind given = trial_traits<returned>::of_kind;
  static constexpr kind wanted = Tag::functions == takes_functions::of_score ? kind::number : kind::condition;
  static constexpr bool wrong_kind = given != kind::unknown && given != wanted;
};

template <class Problem> struct undeclared_in { using type = none; };
template <class Tag> struct undeclared_in<undeclared_input<Tag>> { using type = Tag; };
struct miscount_none { using tag = none; using axes = none; using indices = none; };
template <int N> struct takes_axes {};
template <int N> struct given_indices {};
template <class Problem> struct miscount_in : miscount_none {};
template <class Tag, int Axes, int Indices> struct miscount_in<wrong_index_count<Tag, Axes, Indices>> {
  using tag = Tag;
  using axes = takes_axes<Axes>;
  using indices = given_indices<Indices>;
};

/// The first problem of a stage's functions, given the inputs that the spec declares.
template <class Tag, class Inputs, class Functions> struct functions_check;
template <class Tag, class Inputs, class... F> struct functions_check<Tag, Inputs, types<F...>> {
  using read = decltype(reader_of(Inputs{}));
  template <class X> struct is_wrong_kind : std::bool_constant<outcome<Tag, X, read>::wrong_kind> {};
  using problem = first_culprit<typename outcome<Tag, F, read>::problem...>;
  using wrong_kind = typename first<is_wrong_kind, F...>::type;
  static constexpr bool ok = std::is_same_v<first_culprit<problem, wrong_kind>, none>;
};

// ---- the good overloads

template <class Chain, class Stage> inline constexpr bool joins = false;
template <class Source, class Last, bool Same, class Inputs, class Keys, class Next, bool Unaligned, bool Lse, class F, class Rotation>
inline constexpr bool joins<chain_facts<Source, Last, Same, Inputs, Keys>, stage_facts<Next, Unaligned, Lse, F, Rotation>> =
    rules::only_one_of<Next, Last> && rules::comes_after<Next, Last> && rules::has_weights_before<Next, Last> &&
    rules::has_sum_before<Next, Last> && rules::starts_with_project<Next, Source> && rules::lse_exists<Last, Lse> &&
    rules::head_has_pairs<Keys, Rotation> && rules::keys_come_rotated<Source, Rotation> && rules::cached_keys_come_rotated<Keys, Rotation> &&
    rules::causal_alignment_known<Same, Unaligned> && functions_check<Next, Inputs, F>::ok;

template <class... S, class Tag, class... P>
  requires joins<typename chain<S...>::facts, typename stage<Tag, P...>::facts>
constexpr auto operator|(chain<S...> before, stage<Tag, P...> next) {
  if constexpr (Tag::where == slot::sum) return collapse(before, next);
  else return chain<S..., stage<Tag, P...>>{};
}
template <class Source, bool Same, class Keys, class... T, class... P>
  requires joins<typename flat_spec<Source, Same, Keys, T...>::facts, typename stage<project_out_stage, P...>::facts>
constexpr auto operator|(flat_spec<Source, Same, Keys, T...> spec, stage<project_out_stage, P...> next) {
  spec.output_dim = value_of<key::model_dim>(next, spec.model_dim);
  spec.output_bias = has<key::bias>(next);
  return spec;
}

// ---- the overloads for mistakes

template <class Source, class Last, bool SameExtents, class Inputs, class Keys, class Next, bool UnalignedCausal, bool AsksForLse, class Functions, class Rotation>
constexpr invalid operator|(const chain_facts<Source, Last, SameExtents, Inputs, Keys> &,
                            const stage_facts<Next, UnalignedCausal, AsksForLse, Functions, Rotation> &) {
  static_assert(rules::only_one_of<Next, Last>, "two stages of one kind: keep one of them");
  static_assert(rules::comes_after<Next, Last>,
                "stages out of order; the order is operands or project | rope | scores | mask | softmax or sigmoid | weighted_sum | project_out");
  if constexpr (rules::only_one_of<Next, Last> && rules::comes_after<Next, Last>) {
    static_assert(rules::has_weights_before<Next, Last>, "weighted_sum() needs weights: put softmax() or sigmoid(...) before it");
    static_assert(rules::lse_exists<Last, AsksForLse>, "sigmoid weights are not normalised, so there is no log-sum-exp: leave returns<lse> out");
    static_assert(rules::starts_with_project<Next, Source>, "project_out(...) needs a spec that starts with project(...)");
    static_assert(rules::has_sum_before<Next, Last>, "project_out(...) comes directly after weighted_sum(...)");
    static_assert(rules::head_has_pairs<Keys, Rotation>,
                  "features turn in pairs within a head: head_dim must be even, or dims<N> say how many of its features turn, at most head_dim");
    static_assert(rules::keys_come_rotated<Source, Rotation>, "keys_rotated needs keys that the call brings: operands(...), not project(...)");
    static_assert(rules::cached_keys_come_rotated<Keys, Rotation>,
                  "keys of a cache, in pages or in an element of their own, are not rotated by the call: store them rotated and say so, rope(keys_rotated, ...)");
    static_assert(rules::causal_alignment_known<SameExtents, UnalignedCausal>,
                  "query and key extents can differ here, so causal must say how they align: causal<align::bottom_right> or "
                  "causal<align::top_left>; or say that they are equal: operands(self_attention, ...)");
    using check = functions_check<Next, Inputs, Functions>;
    static_assert(
        rules::declared_input<typename undeclared_in<typename check::problem>::type>,
        "a function reads an input that the spec does not declare: add input<tag>(element, axes...) to the first stage");
    static_assert(rules::compares_numbers<typename check::problem>,
                  "a comparison is compared with <, <=, > or >=: it holds or does not, which orders nothing; join two by &&, as in 0 <= x && x < 8");
    using miscount = miscount_in<typename check::problem>;
    static_assert(rules::one_index_per_axis<typename miscount::tag, typename miscount::axes, typename miscount::indices>,
                  "at(tag{}, indices...) takes one index for each axis of the input, in the order declared");
    if constexpr (Next::functions == takes_functions::of_score)
      static_assert(rules::returns_a_score<typename check::wrong_kind>,
                    "a score function returns a score: a number, not a condition, not nothing");
    else
      static_assert(rules::returns_a_condition<typename check::wrong_kind>,
                    "a mask function returns a condition, such as at.key <= at.query");
  }
  return {};
}
template <class First, bool A, bool L, class F, class R, class Next, bool B, bool M, class G, class T>
constexpr invalid operator|(const stage_facts<First, A, L, F, R> &, const stage_facts<Next, B, M, G, T> &) {
  static_assert(rules::starts_a_spec<First>, "a spec starts with operands(...) or project(...)");
  return {};
}
template <class S1, class L1, bool X1, class I1, class K1, class S2, class L2, bool X2, class I2, class K2>
constexpr invalid operator|(const chain_facts<S1, L1, X1, I1, K1> &, const chain_facts<S2, L2, X2, I2, K2> &) {
  static_assert(rules::comes_after<S2, L1> && rules::only_one_of<S2, L1>,
                "operands(...) or project(...) stands once, at the start of a spec");
  return {};
}
template <class First, bool A, bool L, class F, class R, class S2, class L2, bool X2, class I2, class K2>
constexpr invalid operator|(const stage_facts<First, A, L, F, R> &, const chain_facts<S2, L2, X2, I2, K2> &) {
  static_assert(rules::starts_a_spec<First>, "a spec starts with operands(...) or project(...)");
  return {};
}
/// Something that is no stage, such as the name of a stage without its brackets.
template <class T> concept foreign = !std::is_base_of_v<chain_part, T>;
template <class Source, class Last, bool X, class I, class K, foreign T>
constexpr invalid operator|(const chain_facts<Source, Last, X, I, K> &, const T &) {
  static_assert(rules::is_a_stage<T>, "a spec joins stages, each called with its properties, as in softmax()");
  return {};
}
template <foreign T, class Next, bool A, bool L, class F, class R> constexpr invalid operator|(const T &, const stage_facts<Next, A, L, F, R> &) {
  static_assert(rules::is_a_stage<T>, "a spec joins stages, each called with its properties, as in softmax()");
  return {};
}
template <class T> constexpr invalid operator|(invalid, const T &) { return {}; }
template <class T> constexpr invalid operator|(const T &, invalid) { return {}; }
constexpr invalid operator|(invalid, invalid) { return {}; }

} // namespace attune::language

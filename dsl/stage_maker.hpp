// Making a stage from its properties: all that can be wrong within one stage is found and said here.
#pragma once
#include "dsl/conditions.hpp"
#include "dsl/stages.hpp"
#include "dsl/trial.hpp"

namespace attune::language {

/// A stateless function object in a stage that takes functions counts as a property; everything else stays as it is.
template <class Tag, class P> using as_property =
    std::conditional_t<Tag::functions != takes_functions::no && std::is_class_v<P> && std::is_empty_v<P> && !is_property<P>,
                       function<P>, P>;

/// Whether F, read on trial, is a constant: then it has no branch on a value, and calls nothing that works on plain numbers.
template <class F> concept constant_of_score =
    requires { typename std::bool_constant<(static_cast<void>(F{}(trial_number{}, trial_position<read_anything>{})), true)>; };
template <class F> concept constant_of_position =
    requires { typename std::bool_constant<(static_cast<void>(F{}(trial_position<read_anything>{})), true)>; };

/// What can be wrong with functions before the spec's inputs are known.
template <takes_functions Kind, class... P> struct function_check {
  template <class X> struct uncallable : std::false_type {};
  template <class F> struct uncallable<function<F>> {
    static constexpr bool callable() { // std::is_invocable would add four lines to the compiler's own error about F's body
      if constexpr (Kind == takes_functions::of_score) return requires { F{}(trial_number{}, trial_position<read_anything>{}); };
      else return requires { F{}(trial_position<read_anything>{}); };
    }
    static constexpr bool value = !callable();
  };
  template <class X> struct branching : std::false_type {};
  template <class F> struct branching<function<F>> {
    static constexpr bool constant() {
      if constexpr (uncallable<function<F>>::value) return true;
      else if constexpr (Kind == takes_functions::of_score) return constant_of_score<F>;
      else return constant_of_position<F>;
    }
    static constexpr bool value = !constant();
  };
  using arity = typename first<uncallable, P...>::type;
  using branch = typename first<branching, P...>::type;
};

/// The first stage that takes or needs a property.
template <class Key> struct is_home {
  template <class Tag> struct of : std::bool_constant<contains<Key, typename Tag::takes> || contains<Key, typename Tag::needs>> {};
};
template <class Key> using home_of = typename first<is_home<Key>::template of, operands_stage, project_stage, rope_stage, scores_stage, mask_stage, softmax_stage,
                                                    sigmoid_stage, weighted_sum_stage, project_out_stage>::type;

/// Finds the first culprit against each rule. Later rules are asked only once earlier ones hold.
template <class Tag, class... P> struct stage_check {
  template <class X> struct is_stranger : std::bool_constant<!is_property<X>> {};
  template <class X> struct is_repeated : std::bool_constant<(times<typename key_of<X>::type, P...> > 1)> {};
  template <class X> struct is_misplaced
      : std::bool_constant<!is_function<X> &&
                           !contains<typename family_of<typename key_of<X>::type>::type, typename Tag::takes> &&
                           !contains<typename key_of<X>::type, typename Tag::needs>> {};
  template <class Key> struct is_absent : std::bool_constant<times<Key, P...> == 0> {};
  template <class X> struct is_alone {
    using needed = typename needs_beside_of<X>::type;
    static constexpr bool value = !std::is_same_v<needed, none> && times<needed, P...> == 0;
  };
  template <class X> struct no_count : std::bool_constant<!is_count<X>> {};
  template <class X> struct too_wide : std::bool_constant<!is_head_size<X>> {};
  template <class X> struct no_storage : std::bool_constant<!is_storable<X>> {};
  template <class X> struct no_cache : std::bool_constant<!is_cacheable<X>> {};
  template <class X> struct no_scale : std::bool_constant<!has_its_scale<X, P...>> {};
  template <class X> struct no_page : std::bool_constant<!is_page<X>> {};
  template <class X> struct is_clash {
    using other = typename clashes_with<typename key_of<X>::type>::type;
    static constexpr bool value = !std::is_same_v<other, none> && times<other, P...> > 0;
  };
  template <class X> struct no_factor : std::bool_constant<!is_factor<X>> {};
  template <class X> struct no_window : std::bool_constant<!is_window<X>> {};
  template <class X> struct no_slopes : std::bool_constant<!is_alibi<X>> {};
  template <class X> struct no_buckets : std::bool_constant<!has_good_buckets<X>> {};
  template <class X> struct odd : std::bool_constant<!is_even<X>> {};
  template <class X> struct no_bias : std::bool_constant<!is_sigmoid_bias<X>> {};
  template <class X> struct no_axes : std::bool_constant<!has_score_axes<X>> {};

  template <class X> struct no_name : std::bool_constant<!has_own_name<X, P...>> {};

  template <class... Key> static typename first<is_absent, Key...>::type absent_of(types<Key...>);
  template <class Earlier, class Culprit> using unless = std::conditional_t<std::is_same_v<Earlier, none>, Culprit, none>;

  using stranger = typename first<is_stranger, P...>::type;
  using repeated = unless<stranger, typename key_of<typename first<is_repeated, P...>::type>::type>;
  using misplaced = unless<first_culprit<stranger, repeated>, typename key_of<typename first<is_misplaced, P...>::type>::type>;
  using home = home_of<typename family_of<misplaced>::type>;
  using absent = unless<first_culprit<stranger, repeated, misplaced>, decltype(absent_of(typename Tag::needs{}))>;
  using count = typename first<no_count, P...>::type;
  using wide = typename first<too_wide, P...>::type;
  using storage = typename first<no_storage, P...>::type;
  using cache = typename first<no_cache, P...>::type;
  using scale = unless<first_culprit<stranger, cache>, typename first<no_scale, P...>::type>;
  using page = typename first<no_page, P...>::type;
  using clash = unless<first_culprit<stranger, repeated, misplaced>, typename key_of<typename first<is_clash, P...>::type>::type>;
  using clashing = typename clashes_with<clash>::type;
  using factor = typename first<no_factor, P...>::type;
  template <class... Key> using factor_of = std::conditional_t<(std::is_same_v<typename key_of<factor>::type, Key> || ...), factor, none>;
  using window = typename first<no_window, P...>::type;
  using unpaired = typename first<odd, P...>::type;
  using sigmoid_bias = typename first<no_bias, P...>::type;
  using axes = typename first<no_axes, P...>::type;
  using slopes = typename first<no_slopes, P...>::type;
  using buckets = typename first<no_buckets, P...>::type;
  using nameless = unless<first_culprit<stranger, repeated>, typename first<no_name, P...>::type>;
  static constexpr int inputs = times_of_family<key::inputs, P...>;
  using alone = unless<first_culprit<stranger, repeated, misplaced>, typename key_of<typename first<is_alone, P...>::type>::type>;
  using missing = typename needs_beside<alone>::type;

  static constexpr int heads = number_of<key::heads, 1, P...>();
  static constexpr int kv_heads = number_of<key::kv_heads, heads, P...>();
  static constexpr bool no_groups =
      std::is_same_v<first_culprit<stranger, count>, none> && heads % (kv_heads > 0 ? kv_heads : 1) != 0;
  using group = std::conditional_t<no_groups, property<key::kv_heads, kv_heads>, none>;
  using grouped = std::conditional_t<no_groups, property<key::heads, heads>, none>;

  static constexpr int model_dim = number_of<key::model_dim, 0, P...>();
  static constexpr bool odd_model = times<key::sinusoidal_positions, P...> > 0 && model_dim % 2 != 0;
  using positions = std::conditional_t<odd_model, key::sinusoidal_positions, none>;
  using odd_dim = std::conditional_t<odd_model, property<key::model_dim, model_dim>, none>;

  using arity = typename function_check<Tag::functions, P...>::arity;
  using score_arity = std::conditional_t<Tag::functions == takes_functions::of_score, arity, none>;
  using mask_arity = std::conditional_t<Tag::functions == takes_functions::of_position, arity, none>;
  using branch = typename function_check<Tag::functions, P...>::branch;

  using any = first_culprit<stranger, repeated, misplaced, absent, count, wide, storage, cache, scale, page, clash, factor, window, sigmoid_bias, unpaired, positions, axes, slopes, buckets, alone, group, nameless,
                            arity, branch>;
  static constexpr bool ok = std::is_same_v<any, none> && rules::few_enough_inputs<inputs>;

  /// A source starts a chain; any other stage waits to be joined to one.
  static constexpr auto make() {
    if constexpr (!ok) return invalid{};
    else if constexpr (Tag::where == slot::source) return chain<stage<Tag, P...>>{};
    else return stage<Tag, P...>{};
  }
};
/// The check of a stage given as properties, or as one list of properties.
template <class Tag, class... P> struct check_of : identity<stage_check<Tag, as_property<Tag, P>...>> {};
template <class Tag, class... P> struct check_of<Tag, types<P...>> : identity<stage_check<Tag, as_property<Tag, P>...>> {};

/// operands, project, scores, ...: called with properties, gives a stage. The assertions stand in the call itself, since
/// every function between would add lines to each diagnostic.
template <class Tag> struct stage_maker {
  template <class... P> constexpr auto operator()(P...) const {
    using check = typename check_of<Tag, P...>::type;
    static_assert(rules::made_of_properties<typename check::stranger>,
                  "a stage is made of properties, such as heads<12>; scores and mask also take functions that capture nothing");
    static_assert(rules::given_once<typename check::repeated>, "a stage has one property twice: keep one of them");
    static_assert(rules::stage_takes<Tag, typename check::misplaced, typename check::home>,
                  "this stage does not take this property: move it to the stage that does, the last one named here");
    static_assert(rules::stage_has<Tag, typename check::absent>, "this stage lacks a property that it needs: add it");
    static_assert(rules::at_least_one<typename check::count>, "heads and extents are at least 1");
    static_assert(rules::head_is_not_larger<typename check::wide, most_features>, "head_dim and value_dim are 1 to 576, the largest that schedules are tested for");
    static_assert(rules::element_is_float<typename check::storage>, "the element is f32, f16 or bf16");
    static_assert(rules::kv_element_is_known<typename check::cache>, "kv_element is f32, f16, bf16, int8, e4m3 or e5m2");
    static_assert(rules::scale_beside_8_bits<typename check::scale>,
                  "kv_scale and elements of 8 bits belong together: kv_element<int8> needs a kv_scale, e4m3 and e5m2 may have one, others none");
    static_assert(rules::page_is_power_of_two<typename check::page>, "a page holds a power of two of keys, such as paged<16>");
    static_assert(rules::not_beside<typename check::clash, typename check::clashing>,
                  "these two properties exclude each other: paged keys are as many as key_lengths says, and packed documents share no prefix");
    static_assert(rules::positive_factor<typename check::template factor_of<key::scale>>,
                  "a scale is a positive int (up to 2147483647), a ratio such as scale<1, 8>, runtime or rsqrt_head_dim");
    static_assert(rules::positive_factor<typename check::template factor_of<key::softcap>>,
                  "a softcap is a positive int (up to 2147483647), a ratio such as softcap<61, 2>, or runtime");
    static_assert(rules::positive_factor<typename check::template factor_of<key::theta, key::sinusoidal_positions>>,
                  "the base of the wavelengths is a positive int (up to 2147483647) or a ratio of two, as in theta<10000>; no call decides it");
    static_assert(rules::window_counts_keys<typename check::window>,
                  "a window counts the keys before the query's own, and with a second number those behind it: each an int, 0 to 2147483647, or runtime");
    static_assert(rules::features_in_pairs<typename check::unpaired>, "dims counts the features that turn in pairs: an even number, at least 2");
    static_assert(rules::even_for_positions<typename check::positions, typename check::odd_dim>,
                  "sinusoidal_positions fills features two by two, a sine and a cosine: model_dim must be even");
    static_assert(rules::has_slopes<typename check::slopes>, "alibi<> has the slopes of the paper, alibi<slopes> takes them at the call");
    static_assert(rules::has_buckets<typename check::buckets>,
                  "relative_bias<buckets, max_distance, direction>: at least 2 buckets for each direction, and max_distance beyond those of one distance each");
    static_assert(rules::any_number<typename check::sigmoid_bias>,
                  "a sigmoid's bias is a whole number, a ratio such as sigmoid_bias<-7, 2>, or runtime; its numbers are ints (up to 2147483647)");
    static_assert(rules::each_axis_once<typename check::axes>,
                  "a tensor names each of its axes once; the axes of a mask are batch, head, query and key, those of a block table batch and head");
    static_assert(
        rules::name_of_its_own<typename check::nameless>,
        "an input goes by the last part of its tag's name: that must differ from other inputs and from the call's own tensors and numbers");
    static_assert(rules::few_enough_inputs<check::inputs>, "a spec has at most 6 inputs of its own");
    static_assert(rules::property_beside<typename check::alone, typename check::missing>,
                  "this property means something only beside another one: add that one");
    static_assert(rules::divides<typename check::group, typename check::grouped>,
                  "kv_heads must divide heads: query head h reads kv head h / (heads / kv_heads)");
    static_assert(rules::takes_score_and_at<typename check::score_arity>,
                  "scores(f): f takes (auto score, auto at) and returns a score, as in [](auto s, auto at) { return s; }; "
                  "at has batch, head, kv_head, query, key, position, query_count, key_count and at(tag{}, indices...)");
    static_assert(rules::takes_at<typename check::mask_arity>,
                  "mask(f): f takes (auto at) and returns a condition, as in [](auto at) { return at.key <= at.query; }; "
                  "at has batch, head, kv_head, query, key, position, query_count, key_count and at(tag{}, indices...)");
    static_assert(rules::reads_symbols<typename check::branch>,
                  "a function takes auto, branches with select(condition, a, b), not with ?: or if, "
                  "and calls only exp, tanh, abs, min, max, without std::");
    return check::make();
  }
};

} // namespace attune::language

namespace attune {

/// Query, key and value are arguments of the call. Needs heads, head_dim, element.
inline constexpr language::stage_maker<language::operands_stage> operands{};
/// Query, key and value are projected from hidden states. Needs model_dim, heads, head_dim, element.
inline constexpr language::stage_maker<language::project_stage> project{};
/// Rotary embedding: queries and keys turn with their positions before they meet. May be left out.
inline constexpr language::stage_maker<language::rope_stage> rope{};
/// scale * query . key, then softcap, then score functions f(score, at) in the order written. May be left out.
inline constexpr language::stage_maker<language::scores_stage> scores{};
/// Which keys a query attends to: all masks and mask functions f(at) hold together. May be left out.
inline constexpr language::stage_maker<language::mask_stage> mask{};
inline constexpr language::stage_maker<language::softmax_stage> softmax{};
/// In softmax's place: weight = 1 / (1 + exp(-(score + bias))), each key by itself; masked keys weigh 0.
inline constexpr language::stage_maker<language::sigmoid_stage> sigmoid{};
inline constexpr language::stage_maker<language::weighted_sum_stage> weighted_sum{};
/// Projects the heads' outputs back to model_dim. Only after project.
inline constexpr language::stage_maker<language::project_out_stage> project_out{};

} // namespace attune

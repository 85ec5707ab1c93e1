// The stages of a spec. A tag says where the stage stands, which properties it needs and takes, and whether it takes
// functions; stage<Tag, properties...> is one stage as written. A new stage is one more tag and one more stage_maker.
#pragma once
#include "dsl/lists.hpp"
#include "dsl/numbers.hpp"
#include "dsl/properties.hpp"
#include <boost/hana/filter.hpp>
#include <boost/hana/find.hpp>
#include <boost/hana/integral_constant.hpp>
#include <boost/hana/map.hpp>
#include <boost/hana/optional.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <type_traits>

namespace attune::language {
namespace hana = boost::hana;

/// The places of a chain, in order.
enum class slot { source, positions, scores, mask, weights, sum, output };

/// What functions a stage takes: none, f(score, at), or f(at).
enum class takes_functions { no, of_score, of_position };

struct stage_defaults {
  using needs = types<>;
  using takes = types<>;
  static constexpr takes_functions functions = takes_functions::no;
};
struct operands_stage : stage_defaults {
  static constexpr slot where = slot::source;
  using needs = types<key::heads, key::head_dim, key::element>;
  using takes = types<key::kv_heads, key::value_dim, key::self_attention, key::layout, key::inputs, key::kv_element, key::kv_scale, key::paged>;
};
struct project_stage : stage_defaults {
  static constexpr slot where = slot::source;
  using needs = types<key::model_dim, key::heads, key::head_dim, key::element>;
  using takes = types<key::kv_heads, key::value_dim, key::cross_attention, key::context_dim, key::bias, key::layout, key::inputs, key::sinusoidal_positions>;
};
struct rope_stage : stage_defaults {
  static constexpr slot where = slot::positions;
  using takes = types<key::theta, key::pairing, key::dims, key::angle_tables, key::position_offsets, key::keys_rotated>;
};
struct scores_stage : stage_defaults {
  static constexpr slot where = slot::scores;
  static constexpr takes_functions functions = takes_functions::of_score;
  using takes = types<key::scale, key::softcap, key::alibi, key::relative_bias>;
};
struct mask_stage : stage_defaults {
  static constexpr slot where = slot::mask;
  static constexpr takes_functions functions = takes_functions::of_position;
  using takes = types<key::causal, key::sliding_window, key::key_lengths, key::boolean, key::additive, key::prefix_lengths, key::documents, key::block_sparse>;
};
struct softmax_stage : stage_defaults {
  static constexpr slot where = slot::weights;
  using takes = types<key::empty_rows, key::sinks>;
};
struct sigmoid_stage : stage_defaults {
  static constexpr slot where = slot::weights;
  using takes = types<key::empty_rows, key::sigmoid_bias>;
};
struct weighted_sum_stage : stage_defaults {
  static constexpr slot where = slot::sum;
  using takes = types<key::masked_values, key::returns>;
};
struct project_out_stage : stage_defaults {
  static constexpr slot where = slot::output;
  using takes = types<key::model_dim, key::bias>;
};
/// Stands for a stage that a chain leaves out.
struct absent_stage : stage_defaults {
  static constexpr slot where = slot::source;
};

/// A property that means something only beside another one of the same stage.
template <class Key> struct needs_beside { using type = none; };
template <> struct needs_beside<key::context_dim> { using type = key::cross_attention; };
template <> struct needs_beside<key::sliding_window> { using type = key::causal; };
template <> struct needs_beside<key::prefix_lengths> { using type = key::causal; };
/// A window of two numbers stands by itself.
template <class P> struct needs_beside_of : needs_beside<typename key_of<P>::type> {};
template <auto Left, auto Right, auto... More> struct needs_beside_of<property<key::sliding_window, Left, Right, More...>> { using type = none; };

/// A property that cannot stand beside another one of the same stage.
template <class Key> struct clashes_with { using type = none; };
template <> struct clashes_with<key::self_attention> { using type = key::paged; };
template <> struct clashes_with<key::prefix_lengths> { using type = key::documents; };
template <> struct clashes_with<key::angle_tables> { using type = key::theta; };

template <class... T> types<T...> list_of(hana::tuple<T...>);
template <class... P> constexpr auto functions_in(hana::tuple<P...> all) {
  return hana::filter(all, [](auto p) { return hana::bool_c<is_function<decltype(p)>>; });
}
template <class... P> constexpr auto inputs_in(hana::tuple<P...> all) {
  return hana::filter(all, [](auto p) { return hana::bool_c<is_input<decltype(p)>>; });
}
template <class... P> using function_list = decltype(list_of(functions_in(hana::tuple<P...>{})));
template <class... P> using input_list = decltype(list_of(inputs_in(hana::tuple<P...>{})));

/// causal<> without an alignment: right only where query and key extents are the same by construction.
template <class... P> inline constexpr bool unaligned_causal =
    (std::is_same_v<P, property<key::causal, align::diagonal>> || ...);

/// Whether log-sum-exp is among what a weighted_sum returns.
template <class P> inline constexpr bool is_lse_result = false;
template <result... R> inline constexpr bool is_lse_result<property<key::returns, R...>> = ((R == result::lse) || ...);
template <class... P> inline constexpr bool asks_for_lse = (is_lse_result<P> || ...);

template <class Tag, class... P> inline constexpr bool same_extents =
    std::is_same_v<Tag, project_stage> ? times<key::cross_attention, P...> == 0 : times<key::self_attention, P...> > 0;

/// All that a diagnostic may see of a stage or a chain: what matters to a neighbour. The error overloads of operator| are
/// deduced through these bases, so that no message ever spells a whole chain.
struct chain_part {};
template <class Tag, bool UnalignedCausal, bool AsksForLse, class Functions, class Rotation> struct stage_facts : chain_part {};
template <class Source, class Last, bool SameExtents, class Inputs, class Keys> struct chain_facts : chain_part {};

/// What a source says of its keys: the features of a head, and whether a cache stores them (in pages, or in an element of their own).
template <int HeadDim, bool Cached> struct key_facts {};
template <class... P> using key_facts_of =
    key_facts<number_of<key::head_dim, 0, P...>(), times<key::paged, P...> != 0 ||
              number_of<key::kv_element, number_of<key::element, 0, P...>(), P...>() != number_of<key::element, 0, P...>()>;

/// What a rope stage must agree on with the source: its features (0: all of a head), and whether keys come rotated.
template <int Dims, bool KeysRotated> struct rotation {};
template <class Tag, class... P> using rotation_of =
    std::conditional_t<std::is_same_v<Tag, rope_stage>, rotation<number_of<key::dims, 0, P...>(), (times<key::keys_rotated, P...> > 0)>, none>;

template <class Tag, class... P> struct stage : stage_facts<Tag, unaligned_causal<P...>, asks_for_lse<P...>, function_list<P...>, rotation_of<Tag, P...>> {
  using tag = Tag;
  using facts = stage_facts<Tag, unaligned_causal<P...>, asks_for_lse<P...>, function_list<P...>, rotation_of<Tag, P...>>;
  using functions = function_list<P...>;
  using inputs = input_list<P...>;
  using listed = types<P...>;
  static constexpr bool same_extents = language::same_extents<Tag, P...>;
  using keys = key_facts_of<P...>;
  static constexpr auto properties = hana::make_map(hana::make_pair(hana::type_c<typename P::key>, P{})...);
};

template <class First, class... Rest> using last_of = typename decltype((identity<First>{}, ..., identity<Rest>{}))::type;

/// Stages joined so far; the first is operands or project.
template <class First, class... Rest> struct chain
    : chain_facts<typename First::tag, typename last_of<First, Rest...>::tag, First::same_extents, typename First::inputs, typename First::keys> {
  using facts =
      chain_facts<typename First::tag, typename last_of<First, Rest...>::tag, First::same_extents, typename First::inputs, typename First::keys>;
};

/// What a wrong stage or chain becomes: it swallows the rest in silence, so that one mistake gives one error. For the same
/// reason it has the members of a good spec.
struct invalid : chain_part, numbers {};

} // namespace attune::language

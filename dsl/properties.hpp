// The properties of a spec. A property is property<key, values...>; a new one is one more key and one more variable
// template here (or in a user's own header), and a place in the `takes` of a stage (dsl/stages.hpp).
#pragma once
#include "dsl/lists.hpp"
#include "dsl/words.hpp"

namespace attune {

namespace key {
struct heads; struct kv_heads; struct head_dim; struct value_dim; struct model_dim; struct context_dim;
struct element; struct bias; struct self_attention; struct cross_attention; struct layout;
struct kv_element; struct kv_scale; struct paged;
struct sinusoidal_positions; struct theta; struct pairing; struct dims; struct angle_tables; struct position_offsets; struct keys_rotated;
struct scale; struct softcap;
struct alibi; struct relative_bias;
struct prefix_lengths; struct documents; struct block_sparse;
struct causal; struct sliding_window; struct key_lengths; struct boolean; struct additive;
struct empty_rows; struct sinks; struct sigmoid_bias; struct masked_values; struct returns;
struct inputs;                    ///< the family that every input<Tag> belongs to
template <class Tag> struct input;
} // namespace key

template <class Key, auto... Values> struct property { using key = Key; };
/// A user's score or mask function. Each is its own key, so that several compose.
template <class F> struct function { using key = function; };

/// Number of query heads.
template <int N> inline constexpr property<key::heads, N> heads{};
/// Number of key and value heads; must divide heads. Default: heads.
template <int N> inline constexpr property<key::kv_heads, N> kv_heads{};
/// Features of one head of query and key.
template <int N> inline constexpr property<key::head_dim, N> head_dim{};
/// Features of one head of value and output. Default: head_dim.
template <int N> inline constexpr property<key::value_dim, N> value_dim{};
/// In project: features of the hidden states. In project_out: features of the output; default as in project.
template <int N> inline constexpr property<key::model_dim, N> model_dim{};
/// With cross_attention: features of the context. Default: model_dim.
template <int N> inline constexpr property<key::context_dim, N> context_dim{};
/// How tensors are stored: f32, f16 or bf16. Sums are f32 whatever the storage.
template <element_type E> inline constexpr property<key::element, E> element{};
/// How key and value are stored, where that is not as the query is: f32, f16, bf16, int8, e4m3 or e5m2. Default: as `element` says.
template <element_type E> inline constexpr property<key::kv_element, E> kv_element{};
/// Stored keys and values are multiplied by f32 scales of the call: per_head, or per_token. int8 needs them, e4m3 and e5m2 may have them.
template <kv_scaling S> inline constexpr property<key::kv_scale, S> kv_scale{};
/// Keys and values lie in pages of N keys, a power of two; a table says which pages hold a batch's keys, and key_lengths how many.
template <int N> inline constexpr property<key::paged, N> paged{};
/// A projection adds a bias.
inline constexpr property<key::bias, true> bias{};
/// Query and key have the same extent in every call.
inline constexpr property<key::self_attention, true> self_attention{};
/// Keys and values are projected from a second sequence, the context.
inline constexpr property<key::cross_attention, true> cross_attention{};
/// Order of the axes in the C ABI: bhsd or bshd. Default: bhsd.
template <tensor_layout L> inline constexpr property<key::layout, L> layout{};
/// input<tag>(element, axes...): a tensor that score and mask functions read with at(tag{}, indices...).
template <class Tag> struct input_maker {
  template <element_type E, axis_name... A>
  constexpr property<key::input<Tag>, E, A...> operator()(constant<E>, constant<A>...) const { return {}; }
  template <class... Other> constexpr property<key::input<Tag>, element_type::f32, axis_name::batch> operator()(Other...) const {
    static_assert(sizeof...(Other) < 0,
                  "an input is declared as input<tag>(element, axes...), for example input<slope>(f32, axis::head)");
    return {};
  }
};
template <class Tag> inline constexpr input_maker<Tag> input{};

/// Sines and cosines of position x theta^(-2 i / model_dim) are added to the hidden states: sinusoidal_positions<10000>.
template <auto... V> inline constexpr property<key::sinusoidal_positions, V...> sinusoidal_positions{};
/// Of a rotary embedding: pair i of N features turns by position x theta^(-2 i / N). A whole number or a ratio. Default: 10000.
template <auto... V> inline constexpr property<key::theta, V...> theta{};
/// Which features turn together: half (i and i + N / 2; the default) or interleaved (2 i and 2 i + 1).
template <rotary_pairing P> inline constexpr property<key::pairing, P> pairing{};
/// How many features of a head turn, from the first on; even. Default: head_dim.
template <int N> inline constexpr property<key::dims, N> dims{};
/// The call gives cosines and sines, f32 [batch, position, rotary_pair], instead of theta.
inline constexpr property<key::angle_tables, true> angle_tables{};
/// One i32 per batch that is added to the positions of its queries and keys.
inline constexpr property<key::position_offsets, true> position_offsets{};
/// Keys come rotated, as from a cache: queries alone are rotated.
inline constexpr property<key::keys_rotated, true> keys_rotated{};

/// Factor of query . key: scale<rsqrt_head_dim> (the default), scale<runtime>, scale<2>, or a ratio: scale<1, 8>.
template <auto... V> inline constexpr property<key::scale, V...> scale{};
/// c of c * tanh(score / c): softcap<50>, softcap<runtime>, or a ratio: softcap<61, 2>. Default: off.
template <auto... V> inline constexpr property<key::softcap, V...> softcap{};

/// A query attends to its own position and those before it. Where query and key extents can differ it must say which
/// query and key are aligned: causal<align::bottom_right>, causal<align::top_left>, or causal<align::at_length>, which brings key_lengths.
template <align A = align::diagonal> inline constexpr property<key::causal, A> causal{};
/// With causal: a query attends to its own position and at most w keys before it. A number or runtime. With two numbers, with or
/// without causal: at most `left` keys before its position and `right` behind it; without causal, aligned as bottom_right.
template <auto... W> inline constexpr property<key::sliding_window, W...> sliding_window{};
/// With causal: one i32 per batch; a key before that is attended whatever causal says.
inline constexpr property<key::prefix_lengths, true> prefix_lengths{};
/// Packed documents, which do not see each other: documents<ids> by an i32 for each query and key, documents<offsets> by where each
/// begins; by offsets, causal and window are measured within a document.
template <document_marks M> inline constexpr property<key::documents, M> documents{};
/// A boolean table over blocks of queries and keys, of each batch and head that it names: block_sparse<64, 64, axis::head>.
template <int QueryBlock, int KeyBlock, axis_name... A> inline constexpr property<key::block_sparse, QueryBlock, KeyBlock, A...> block_sparse{};
/// Linear biases: score - slope * |distance|. alibi<> has the slopes of the paper, alibi<slopes> takes an f32 for each head.
template <auto... V> inline constexpr property<key::alibi, V...> alibi{};
/// A learned bias for each head and bucket of distances, as in T5: relative_bias<buckets, max_distance, bidirectional>.
template <int Buckets, int MaxDistance, distance_direction D> inline constexpr property<key::relative_bias, Buckets, MaxDistance, D> relative_bias{};
/// One i32 per batch: keys from there on are masked and never read.
inline constexpr property<key::key_lengths, true> key_lengths{};
/// A mask tensor (true: attend) over some of batch, head, query, key; it is the same along the axes that are left out.
template <axis_name... A> inline constexpr property<key::boolean, element_type::boolean, A...> boolean{};

namespace detail {
/// Adds the element type where it is left out.
template <class... V> struct additive_values { using type = property<key::additive, element_type::f32, V::value...>; };
template <element_type E, class... A> struct additive_values<constant<E>, A...> {
  using type = property<key::additive, E, A::value...>;
};
} // namespace detail
/// A tensor that is added to the scores (-inf: masked), with axes as `boolean` has them: additive<axis::query, axis::key>,
/// or with an element type of its own: additive<bf16, axis::query, axis::key>. Default: f32.
template <auto... V> inline constexpr typename detail::additive_values<std::remove_const_t<decltype(V)>...>::type additive{};

/// What a row with no allowed key gives: zero (output 0, LSE -inf; the default), or
/// empty_row_policy::error (the call fails).
template <empty_row_policy P> inline constexpr property<key::empty_rows, P> empty_rows{};
/// Attention sinks: an f32 tensor `sinks` [head], a further score of each query head that has no value. It counts in the softmax's
/// denominator and in LSE. Finite or -inf (no sink).
inline constexpr property<key::sinks, element_type::f32, axis_name::head> sinks{};
/// Added to each score before the sigmoid: a whole number, a ratio such as sigmoid_bias<-7, 2>, or runtime. Default: 0. Models
/// of n keys are trained with about -log(n).
template <auto... V> inline constexpr property<key::sigmoid_bias, V...> sigmoid_bias{};
/// Whether V may hold NaN or infinity at masked keys: finite (no; the default) or anything.
template <masked_value_policy P> inline constexpr property<key::masked_values, P> masked_values{};
/// Further outputs, one or several: lse, weights, scaled_scores, capped_scores, masked_scores.
template <result First, result... More> inline constexpr property<key::returns, First, More...> returns{};

} // namespace attune

// Asking a property, or a pack of them.
namespace attune::language {

template <class P> inline constexpr bool is_property = false;
template <class K, auto... V> inline constexpr bool is_property<property<K, V...>> = true;
template <class F> inline constexpr bool is_property<function<F>> = true;
template <class P> inline constexpr bool is_function = false;
template <class F> inline constexpr bool is_function<function<F>> = true;

template <class P> struct key_of { using type = none; };
template <class K, auto... V> struct key_of<property<K, V...>> { using type = K; };
template <class F> struct key_of<function<F>> { using type = function<F>; };

/// The name under which a stage takes a key: its own, except that every input goes by `inputs`.
template <class Key> struct family_of { using type = Key; };
template <class Tag> struct family_of<key::input<Tag>> { using type = key::inputs; };

template <class Key, class... P> inline constexpr int times = (0 + ... + int(std::is_same_v<Key, typename key_of<P>::type>));

template <class Family, class... P> inline constexpr int times_of_family =
    (0 + ... + int(std::is_same_v<Family, typename family_of<typename key_of<P>::type>::type>));

/// The number of property Key in the pack, or the fallback.
template <class Key, int Fallback> constexpr int number_of() { return Fallback; }
template <class Key, int Fallback, class P, class... Rest> constexpr int number_of() {
  if constexpr (std::is_same_v<Key, typename key_of<P>::type>)
    return []<class K, auto V>(property<K, V>) { return int(V); }(P{});
  else return number_of<Key, Fallback, Rest...>();
}

/// Whether a property declares a tensor that the call must bring.
template <class P> inline constexpr bool is_input = false;
template <class Tag, auto... V> inline constexpr bool is_input<property<key::input<Tag>, V...>> = true;
template <auto... V> inline constexpr bool is_input<property<key::boolean, V...>> = true;
template <auto... V> inline constexpr bool is_input<property<key::additive, V...>> = true;
template <auto... V> inline constexpr bool is_input<property<key::sinks, V...>> = true;

} // namespace attune::language

// Properties that are functions: what a property of scores(...) or mask(...) brings to a spec, inputs of its own and a score or mask
// function over them. Nothing behind the language knows these properties: the pipeline, the reference and the tile classifier read the
// functions as they read a user's. A new one is one more `brings` here.
#pragma once
#include "dsl/properties.hpp"
#include "dsl/signature.hpp"
#include <utility>

namespace attune::language {

/// The inputs that properties bring; the call's tensors go by these names.
namespace own {
struct documents {}; struct query_documents {}; struct key_documents {};
struct sequence_offsets {}; struct query_offsets {}; struct key_offsets {};
struct prefix_lengths {}; struct block_table {}; struct alibi_slopes {}; struct bias_table {};
} // namespace own

/// What an input is for; all but these are read by functions alone.
template <class Tag> inline constexpr tensor_role role_of = tensor_role::input;
template <> inline constexpr tensor_role role_of<own::prefix_lengths> = tensor_role::prefix_lengths;
template <> inline constexpr tensor_role role_of<own::sequence_offsets> = tensor_role::query_offsets;
template <> inline constexpr tensor_role role_of<own::query_offsets> = tensor_role::query_offsets;
template <> inline constexpr tensor_role role_of<own::key_offsets> = tensor_role::key_offsets;

template <class Tag, element_type E, axis_name... A> using own_input = property<key::input<Tag>, E, A...>;

// ---- the functions

template <class QueryTag, class KeyTag> struct same_document {
  template <class At> constexpr auto operator()(At at) const { return at(QueryTag{}, at.batch, at.query) == at(KeyTag{}, at.batch, at.key); }
};

template <axis_name A, class At> constexpr auto index_along(At at) {
  if constexpr (A == axis_name::batch) return at.batch;
  else return at.head;
}
template <int QueryBlock, int KeyBlock, axis_name... A> struct in_block_table {
  template <class At> constexpr auto operator()(At at) const {
    return at(own::block_table{}, index_along<A>(at)..., at.query / QueryBlock, at.key / KeyBlock) != 0;
  }
};

/// Slopes of Press, Smith, Lewis, "Train Short, Test Long: Attention with Linear Biases" (ICLR 2022), and where heads are no power of
/// two as in its code: those of the next lower power n, then every second one of 2n.
template <int Heads> struct standard_alibi {
  static constexpr int lower_power() {
    int n = 1;
    while (2 * n <= Heads) n *= 2;
    return n;
  }
  template <class S, class At> constexpr auto operator()(S score, At at) const {
    constexpr int n = lower_power();
    constexpr double step = -8 * 0.693147180559945309417 / n; // slope i of n: 2^(-8 (i + 1) / n)
    if constexpr (n == Heads) return score - exp((at.head + 1) * step) * abs(at.position - at.key);
    else return score - exp(select(at.head < n, (at.head + 1) * step, ((at.head - n) * 2 + 1) * (step / 2))) * abs(at.position - at.key);
  }
};
struct given_alibi {
  template <class S, class At> constexpr auto operator()(S score, At at) const { return score - at(own::alibi_slopes{}, at.head) * abs(at.position - at.key); }
};

/// Buckets of Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer" (JMLR 2020), as in its
/// code: the first half of a direction's buckets hold one distance each, the others grow as its logarithm up to MaxDistance and
/// beyond. Bidirectional: the upper half of all buckets is for keys behind the query.
template <int Buckets, int MaxDistance, distance_direction D> struct bucket_bias {
  static constexpr bool both_ways = D == distance_direction::bidirectional;
  static constexpr int of_direction = both_ways ? Buckets / 2 : Buckets, exact = of_direction / 2 > 0 ? of_direction / 2 : 1, growing = of_direction - exact;
  /// The least distance of growing bucket i: (distance / exact)^growing >= (MaxDistance / exact)^i. The tolerance is for rounding.
  static constexpr int first_distance(int i) {
    const auto power = [](long double x, int n) {
      long double product = 1;
      for (int k = 0; k < n; ++k) product *= x;
      return product;
    };
    const long double wanted = power(static_cast<long double>(MaxDistance) / exact, i) * (1 - 1e-15L);
    int distance = exact;
    while (power(static_cast<long double>(distance) / exact, growing) < wanted) ++distance;
    return distance;
  }
  template <class Distance, int... I> static constexpr auto bucket_of(Distance distance, std::integer_sequence<int, I...>) {
    return (min(distance, exact) + ... + select(distance >= std::integral_constant<int, first_distance(I + 1)>::value, 1, 0));
  }
  template <class S, class At> constexpr auto operator()(S score, At at) const {
    const auto before = at.position - at.key;
    constexpr auto thresholds = std::make_integer_sequence<int, growing - 1>{};
    if constexpr (both_ways) return score + at(own::bias_table{}, at.head, bucket_of(abs(before), thresholds) + select(before < 0, of_direction, 0));
    else return score + at(own::bias_table{}, at.head, bucket_of(max(before, 0), thresholds));
  }
};

// ---- what each property brings, to a spec with so many heads, whose query and key extents are the same or not

template <class Inputs, class... Function> struct brought {
  using inputs = Inputs;
  using functions = types<function<Function>...>;
};
template <class P, int Heads, bool SameExtents> struct brings : brought<std::conditional_t<is_input<P>, types<P>, types<>>> {};
template <class F, int H, bool S> struct brings<function<F>, H, S> : brought<types<>, F> {};

template <int H, bool S> struct brings<property<key::documents, document_marks::ids>, H, S>
    : brought<types<own_input<own::query_documents, element_type::i32, axis_name::batch, axis_name::query>,
                    own_input<own::key_documents, element_type::i32, axis_name::batch, axis_name::key>>,
              same_document<own::query_documents, own::key_documents>> {};
template <int H> struct brings<property<key::documents, document_marks::ids>, H, true>
    : brought<types<own_input<own::documents, element_type::i32, axis_name::batch, axis_name::query>>, same_document<own::documents, own::documents>> {};
template <int H, bool S> struct brings<property<key::documents, document_marks::offsets>, H, S>
    : brought<types<own_input<own::query_offsets, element_type::i32, axis_name::offset>, own_input<own::key_offsets, element_type::i32, axis_name::offset>>> {};
template <int H> struct brings<property<key::documents, document_marks::offsets>, H, true>
    : brought<types<own_input<own::sequence_offsets, element_type::i32, axis_name::offset>>> {};
template <int H, bool S> struct brings<property<key::prefix_lengths, true>, H, S>
    : brought<types<own_input<own::prefix_lengths, element_type::i32, axis_name::batch>>> {};
template <auto Q, auto K, auto... A, int H, bool S> struct brings<property<key::block_sparse, Q, K, A...>, H, S>
    : brought<types<own_input<own::block_table, element_type::boolean, A..., axis_name::query_block, axis_name::key_block>>, in_block_table<Q, K, A...>> {};
template <int H, bool S> struct brings<property<key::alibi>, H, S> : brought<types<>, standard_alibi<H>> {};
template <int H, bool S> struct brings<property<key::alibi, slope_source::slopes>, H, S>
    : brought<types<own_input<own::alibi_slopes, element_type::f32, axis_name::head>>, given_alibi> {};
template <auto B, auto M, auto D, int H, bool S> struct brings<property<key::relative_bias, B, M, D>, H, S>
    : brought<types<own_input<own::bias_table, element_type::f32, axis_name::head, axis_name::bucket>>, bucket_bias<B, M, D>> {};

/// All that a stage's properties bring, in the order written.
template <int Heads, bool SameExtents, class... P> struct all_brought {
  using inputs = decltype((types<>{} + ... + typename brings<P, Heads, SameExtents>::inputs{}));
  using functions = decltype((types<>{} + ... + typename brings<P, Heads, SameExtents>::functions{}));
};
template <int Heads, bool SameExtents, class... P> all_brought<Heads, SameExtents, P...> all_brought_by(types<P...>);

} // namespace attune::language

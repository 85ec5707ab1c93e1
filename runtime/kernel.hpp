// kernel<Spec>: what a program calls. Needs the header that Attune emitted for the spec, and nothing else of it. C++17.
//
//   attune::kernel<gpt2>{}(query, key, value, output);                        // throws attune::error
//   attune::status s = attune::kernel<gpt2>{}.try_call(query, key, value, output);
//
// Arguments, in this order: query, key, value, output (or hidden, [context,] packed weights, output); then LSE, attention
// weights and scores if the spec returns them; its inputs and mask tensors in the order written; key_scale, value_scale; page_table;
// position_offsets; cos_table, sin_table; key_lengths; its run-time numbers (scale, softcap, window, window_right, sigmoid_bias); and,
// if wanted, call_options. What the spec knows is checked by the compiler, the rest by attune::call (runtime/call.hpp).
//
// The compiler's part: the arguments become data, one constexpr function looks for the first mistake (runtime/mistakes.hpp),
// and one static_assert reports it, so that a call with several mistakes still gives one short diagnostic. The assertions
// stand in this file, because each file between the user's and theirs adds a line to what the compiler prints.
#pragma once
#include "runtime/mistakes.hpp"
#include <utility>

namespace attune {
namespace detail {

// ---- conditions as a diagnostic shows them: the culprits are types, because compilers print those with their values
template <int N> struct argument {};
template <int N> struct kernel_needs {};
template <int N> struct call_gives {};
template <int N> struct spec_says {};
template <int N> struct view_has {};
template <class T> struct spec_stores {};
template <class T> struct view_stores {};
template <axis_name A> struct the_axis {};
template <axis_name A> struct innermost_axis {};
template <tensor_role R> struct tensor_of {};
template <class Spec> struct weights_of {};
template <auto... Arguments> struct missing {};
template <class...> inline constexpr bool count_agrees = false;
template <class...> inline constexpr bool is_a_view = false;
template <class...> inline constexpr bool is_a_number = false;
template <class...> inline constexpr bool are_packed_weights = false;
template <class...> inline constexpr bool packed_for_this_spec = false;
template <class...> inline constexpr bool in_this_order = false;
template <class...> inline constexpr bool has_axis = false;
template <class...> inline constexpr bool axis_once = false;
template <class...> inline constexpr bool axis_passed = false;
template <class...> inline constexpr bool innermost_agrees = false;
template <class...> inline constexpr bool extents_agree = false;
template <class...> inline constexpr bool elements_agree = false;
template <class...> inline constexpr bool may_be_written = false;

template <element_type E> struct stored_type;
template <> struct stored_type<element_type::f32> { using type = float; };
template <> struct stored_type<element_type::f16> { using type = f16_t; };
template <> struct stored_type<element_type::bf16> { using type = bf16_t; };
template <> struct stored_type<element_type::boolean> { using type = bool; };
template <> struct stored_type<element_type::i32> { using type = std::int32_t; };
template <> struct stored_type<element_type::int8> { using type = std::int8_t; };
template <> struct stored_type<element_type::e4m3> { using type = f8_e4m3_t; };
template <> struct stored_type<element_type::e5m2> { using type = f8_e5m2_t; };

/// A mistake as types. Given: the type of the argument's elements, or the spec that weights were packed for.
template <class Spec, int Argument, class Tensor, class Other, axis_name A, axis_name B, int Expected, int Got, class Given> struct found {
  using spec = Spec;
  using place = argument<Argument>;
  using tensor = Tensor;
  using other = Other;
  using axis = the_axis<A>;
  using wanted_axis = innermost_axis<A>;
  using given_axis = innermost_axis<B>;
  using needs = kernel_needs<Expected>;
  using gives = call_gives<Got>;
  using says = spec_says<Expected>;
  using has = view_has<Got>;
  using stores = spec_stores<typename stored_type<static_cast<element_type>(Expected < element_type_count && Expected >= 0 ? Expected : 0)>::type>;
  using given = Given;
};

template <mistake_kind K, class F> struct verdict {};
template <class F> struct verdict<mistake_kind::too_few, F> {
  static_assert(count_agrees<typename F::needs, typename F::gives, typename F::tensor>,
                "arguments are missing, those named here; the emitted header says in which order a call has them");
};
template <class F> struct verdict<mistake_kind::too_many, F> {
  static_assert(count_agrees<typename F::needs, typename F::gives, typename F::place>, "this argument has no place in the call: the spec declares no such tensor or number");
};
template <class F> struct verdict<mistake_kind::not_a_view, F> {
  static_assert(is_a_view<typename F::place, typename F::tensor>, "this argument of the kernel must be a view or a tensor with named axes: view<const float, query<>, head<12>, ...>");
};
template <class F> struct verdict<mistake_kind::not_a_number, F> {
  static_assert(is_a_number<typename F::place>, "this argument of the kernel must be a number: the spec leaves one to each call");
};
template <class F> struct verdict<mistake_kind::not_weights, F> {
  static_assert(are_packed_weights<typename F::place, typename F::spec>, "this argument of the kernel must be packed_weights of its spec, made by pack_weights");
};
template <class F> struct verdict<mistake_kind::other_weights, F> {
  static_assert(packed_for_this_spec<weights_of<typename F::spec>, weights_of<typename F::given>>, "these weights were packed for another spec: pack them for this one");
};
template <class F> struct verdict<mistake_kind::swapped, F> {
  static_assert(in_this_order<typename F::tensor, typename F::other>, "two arguments of the kernel are swapped: these two tensors come in this order");
};
template <class F> struct verdict<mistake_kind::foreign_axis, F> {
  static_assert(has_axis<typename F::tensor, typename F::axis>, "this view has an axis that this tensor of the kernel does not have");
};
template <class F> struct verdict<mistake_kind::repeated_axis, F> {
  static_assert(axis_once<typename F::tensor, typename F::axis>, "this view has an axis twice");
};
template <class F> struct verdict<mistake_kind::missing_axis, F> {
  static_assert(axis_passed<typename F::tensor, typename F::axis>, "this view lacks an axis that this tensor of the kernel has; only batch may be left out");
};
template <class F> struct verdict<mistake_kind::innermost, F> {
  static_assert(innermost_agrees<typename F::tensor, typename F::wanted_axis, typename F::given_axis>, "this view's last axis must be the tensor's contiguous one");
};
template <class F> struct verdict<mistake_kind::extent, F> {
  static_assert(extents_agree<typename F::tensor, typename F::axis, typename F::says, typename F::has>, "an extent of this view is not the one that the spec says");
};
template <class F> struct verdict<mistake_kind::element, F> {
  static_assert(elements_agree<typename F::tensor, typename F::stores, view_stores<typename F::given>>, "this view's elements are not of the type that the spec says");
};
template <class F> struct verdict<mistake_kind::read_only, F> {
  static_assert(may_be_written<typename F::tensor>, "the kernel writes to this tensor, but the view's elements are const");
};

/// The type at place I of a list, void behind its end.
template <int I, class... A> struct nth { using type = void; };
template <class First, class... Rest> struct nth<0, First, Rest...> { using type = First; };
template <int I, class First, class... Rest> struct nth<I, First, Rest...> : nth<I - 1, Rest...> {};

template <class Spec, class = void> inline constexpr bool has_emitted_header = false;
template <class Spec> inline constexpr bool has_emitted_header<Spec, std::void_t<decltype(artefact<Spec>::hash)>> = true;

/// The arguments that a call of Spec leaves out, by the names that the emitted header gives them.
template <class Spec, class Check, class Places = std::make_integer_sequence<int, Check::left_out().count>> struct missing_of;
template <class Spec, class Check, int... I> struct missing_of<Spec, Check, std::integer_sequence<int, I...>> {
  using type = missing<static_cast<typename artefact<Spec>::argument>(Check::left_out().list[I])...>;
};
template <tensor_role R> struct culprit { using type = tensor_of<R>; };

/// One call's arguments, checked by the compiler.
template <class Spec, class... A> struct call_check {
  static constexpr int given = static_cast<int>(sizeof...(A));
  static constexpr argument_facts facts[sizeof...(A) + 1] = {facts_of<Spec, A>::get()...};
  static constexpr bool with_options = given > 0 && facts[given > 0 ? given - 1 : 0].kind == argument_kind::options;
  static constexpr int count = with_options ? given - 1 : given;
  static constexpr missing_places left_out() { return places_left_out(artefact<Spec>::call, facts, count); }
  static constexpr mistake m = first_mistake(artefact<Spec>::call, facts, count);
  static constexpr tensor_role role(int i) { return artefact<Spec>::call.tensors[i < artefact<Spec>::call.tensor_count ? i : 0].role; }
  using tensor = typename std::conditional_t<m.kind == mistake_kind::too_few, missing_of<Spec, call_check>, culprit<role(m.tensor)>>::type;
  using judged = verdict<m.kind, found<Spec, m.argument + 1, tensor, tensor_of<role(m.other_tensor)>, m.axis, m.other_axis, m.expected, m.got,
                                       typename nth<m.argument, typename facts_of<Spec, A>::element...>::type>>;
  static constexpr bool passed = m.kind == mistake_kind::none;
};

/// The arguments as the runtime takes them.
template <class Spec> struct erased_arguments {
  tensor_ref tensors[artefact<Spec>::call.tensor_count];
  double numbers[artefact<Spec>::call.number_count + 1];
  call_options options;
  int tensor_count = 0, number_count = 0;

  template <class T, class... Dims> void add(const view<T, Dims...> &v) { tensors[tensor_count++] = erase(v); }
  template <class T, class... Dims> void add(const tensor<T, Dims...> &t) { tensors[tensor_count++] = erase(t); }
  void add(const packed_weights<Spec> &w) { tensors[tensor_count++].data = const_cast<packed_weights_ref *>(w.ref()); }
  void add(const call_options &o) { options = o; }
  void add(double x) { numbers[number_count++] = x; }
};

/// The header that the caller was compiled with must be that of the library it is linked with.
status check_header(const artefact_info &, const char *hash) noexcept;

template <class Spec, class... A> status run(const A &...a) noexcept {
  erased_arguments<Spec> erased;
  (erased.add(a), ...);
  const artefact_info &info = artefact<Spec>::info();
  if (status s = check_header(info, artefact<Spec>::hash); !s) return s;
  return call(info, erased.tensors, erased.tensor_count, erased.numbers, erased.number_count, erased.options);
}

} // namespace detail

template <class Spec> struct kernel {
  static_assert(detail::has_emitted_header<Spec>, "kernel<Spec> needs the header that Attune emitted for this spec: include it");

  /// Runs the kernel. Throws attune::error; nothing was written then unless generated code itself failed.
  template <class... A> void operator()(const A &...arguments) const {
    if constexpr (detail::has_emitted_header<Spec>) {
      constexpr typename detail::call_check<Spec, A...>::judged judged{};
      static_cast<void>(judged);
      if constexpr (detail::call_check<Spec, A...>::passed) require(detail::run<Spec>(arguments...));
    }
  }
  /// The same with the result as a value. Never throws.
  template <class... A> status try_call(const A &...arguments) const noexcept {
    if constexpr (detail::has_emitted_header<Spec>) {
      constexpr typename detail::call_check<Spec, A...>::judged judged{};
      static_cast<void>(judged);
      if constexpr (detail::call_check<Spec, A...>::passed) return detail::run<Spec>(arguments...);
    }
    return {};
  }
};

namespace detail {
template <projection P, bool Bias> struct weight_of {};

/// One weight matrix or bias as it is given: any view that has the axes.
template <class Spec, projection P, bool Bias> class weight {
  template <class View> struct view_check {
    static constexpr mistake find() {
      constexpr argument_facts f = facts_of<Spec, View>::get();
      tensor_shape s = weight_shape(artefact<Spec>::n, P, Bias);
      if (is_float(f.element)) s.element = f.element; // any of the three will do
      return mistake_in_tensor(s, f);
    }
    static constexpr mistake m = find();
    using judged = verdict<m.kind, found<Spec, 1, weight_of<P, Bias>, void, m.axis, m.other_axis, m.expected, m.got, typename facts_of<Spec, View>::element>>;
  };

public:
  weight() = default;
  template <class T, class... Dims> weight(const view<T, Dims...> &v) {
    constexpr typename view_check<view<T, Dims...>>::judged judged{};
    static_cast<void>(judged);
    if constexpr (element_of<std::remove_const_t<T>>::known) ref = erase(v);
  }
  template <class T, class... Dims> weight(const tensor<T, Dims...> &t) : weight(t.read()) {}

  tensor_ref ref;
};
} // namespace detail

/// The weights of a spec's projections, each assigned from a view or a tensor: w.query = view<const float, head<12>, ...>.
/// The output projection and the biases only where the spec has them.
template <class Spec> struct projection_weights {
  detail::weight<Spec, projection::query, false> query;
  detail::weight<Spec, projection::key, false> key;
  detail::weight<Spec, projection::value, false> value;
  detail::weight<Spec, projection::output, false> output;
  detail::weight<Spec, projection::query, true> query_bias;
  detail::weight<Spec, projection::key, true> key_bias;
  detail::weight<Spec, projection::value, true> value_bias;
  detail::weight<Spec, projection::output, true> output_bias;

  weight_refs refs() const {
    return {{query.ref, key.ref, value.ref, output.ref}, {query_bias.ref, key_bias.ref, value_bias.ref, output_bias.ref}};
  }
};

/// Throws attune::error.
template <class Spec> packed_weights<Spec> pack_weights(const projection_weights<Spec> &weights, const call_options &options = {}) {
  detail::packed_memory memory;
  require(pack_weights(artefact<Spec>::info(), weights.refs(), options, memory));
  return packed_weights<Spec>(std::move(memory));
}

} // namespace attune

// What the compiler can say of a call: the first mistake among its arguments, as one plain sentence. C++17. Private.
//
// The arguments become data, one constexpr function looks for the first mistake, and one static_assert reports it: so a
// call with several mistakes still gives one short diagnostic. What the assertion's condition is applied to says where.
#pragma once
#include "runtime/call.hpp"

namespace attune {
template <class Spec> class packed_weights;

namespace detail {

enum class argument_kind { tensor, weights, number, options, other };

/// What the compiler knows of one argument.
struct argument_facts {
  argument_kind kind = argument_kind::other;
  bool known_element = false, writable = false, fits_spec = false;
  element_type element = element_type::f32;
  int rank = 0;
  axis_extent axes[maximum_rank + 1] = {};
};

template <class Spec, class A> struct facts_of {
  using element = void;
  static constexpr argument_facts get() {
    argument_facts f{};
    if (std::is_arithmetic_v<A>) f.kind = argument_kind::number;
    return f;
  }
};
template <class Spec, class T, class... Dims> struct facts_of<Spec, view<T, Dims...>> {
  using element = std::remove_const_t<T>;
  static constexpr argument_facts get() {
    return {argument_kind::tensor, element_of<element>::known, !std::is_const_v<T>, false, element_of<element>::value, int(sizeof...(Dims)), {Dims::value...}};
  }
};
template <class Spec, class T, class... Dims> struct facts_of<Spec, tensor<T, Dims...>> : facts_of<Spec, view<T, Dims...>> {};
template <class Spec, class Other> struct facts_of<Spec, packed_weights<Other>> {
  using element = Other;
  static constexpr argument_facts get() {
    argument_facts f{};
    f.kind = argument_kind::weights;
    f.fits_spec = std::is_same_v<Spec, Other>;
    return f;
  }
};
template <class Spec> struct facts_of<Spec, call_options> {
  using element = void;
  static constexpr argument_facts get() {
    argument_facts f{};
    f.kind = argument_kind::options;
    return f;
  }
};

enum class mistake_kind { none, too_few, too_many, not_a_view, not_a_number, not_weights, other_weights, swapped, foreign_axis, missing_axis, repeated_axis, innermost, extent, element, read_only };

struct mistake {
  mistake_kind kind = mistake_kind::none;
  int argument = 0;                    ///< counted from 0
  int tensor = 0, other_tensor = 0;    ///< places in the signature
  axis_name axis = axis_name::none, other_axis = axis_name::none;
  int expected = 0, got = 0;
};

constexpr int count_axis(const axis_extent *axes, int rank, axis_name a) {
  int count = 0;
  for (int i = 0; i < rank; ++i) count += axes[i].axis == a;
  return count;
}

/// Whether the axes, apart from their order and extents, are the tensor's.
constexpr mistake mistake_in_axes(const tensor_shape &s, const argument_facts &f) {
  mistake m{};
  for (int i = 0; i < f.rank; ++i) {
    m.axis = f.axes[i].axis;
    m.kind = count_axis(s.axes, s.rank, m.axis) == 0 ? mistake_kind::foreign_axis : count_axis(f.axes, f.rank, m.axis) > 1 ? mistake_kind::repeated_axis : mistake_kind::none;
    if (m.kind != mistake_kind::none) return m;
  }
  for (int i = 0; i < s.rank; ++i) {
    m.axis = s.axes[i].axis;
    m.kind = m.axis != axis_name::batch && count_axis(f.axes, f.rank, m.axis) == 0 ? mistake_kind::missing_axis : mistake_kind::none;
    if (m.kind != mistake_kind::none) return m;
  }
  return {};
}

constexpr mistake mistake_in_extents(const tensor_shape &s, const argument_facts &f) {
  mistake m{};
  for (int i = 0; i < f.rank; ++i)
    for (int j = 0; j < s.rank; ++j) {
      const int view_has = f.axes[i].extent, spec_says = s.axes[j].extent;
      if (s.axes[j].axis != f.axes[i].axis || view_has == dynamic_extent || spec_says == dynamic_extent || view_has == spec_says) continue;
      m.kind = mistake_kind::extent;
      m.axis = f.axes[i].axis;
      m.expected = spec_says;
      m.got = view_has;
      return m;
    }
  return m;
}

constexpr mistake mistake_in_tensor(const tensor_shape &s, const argument_facts &f) {
  mistake m{};
  if (f.kind != argument_kind::tensor) {
    m.kind = mistake_kind::not_a_view;
    return m;
  }
  m = mistake_in_axes(s, f);
  if (m.kind == mistake_kind::none && s.innermost_contiguous && f.rank > 0 && f.axes[f.rank - 1].axis != s.axes[s.rank - 1].axis) {
    m.kind = mistake_kind::innermost;
    m.axis = s.axes[s.rank - 1].axis;
    m.other_axis = f.axes[f.rank - 1].axis;
  }
  if (m.kind == mistake_kind::none) m = mistake_in_extents(s, f);
  if (m.kind == mistake_kind::none && (!f.known_element || f.element != s.element)) {
    m.kind = mistake_kind::element;
    m.expected = static_cast<int>(s.element);
  }
  if (m.kind == mistake_kind::none && s.written && !f.writable) m.kind = mistake_kind::read_only;
  return m;
}

constexpr bool suits(const tensor_shape &s, const argument_facts &f) {
  if (s.role == tensor_role::packed_weights) return f.kind == argument_kind::weights;
  return f.kind == argument_kind::tensor && mistake_in_axes(s, f).kind == mistake_kind::none;
}

/// A tensor whose place the argument at `i` would suit, while the one at its place would suit `i`; or -1.
constexpr int swapped_with(const signature &s, const argument_facts *f, int i) {
  if (suits(s.tensors[i], f[i])) return -1;
  for (int j = i + 1; j < s.tensor_count; ++j)
    if (suits(s.tensors[j], f[i]) && suits(s.tensors[i], f[j])) return j;
  return -1;
}

constexpr mistake mistake_at(const signature &s, const argument_facts *f, int i) {
  mistake m{};
  if (i >= s.tensor_count) {
    if (f[i].kind != argument_kind::number) m.kind = mistake_kind::not_a_number;
  } else if (const int j = swapped_with(s, f, i); j >= 0) {
    m.kind = mistake_kind::swapped;
    m.other_tensor = j;
  } else if (s.tensors[i].role == tensor_role::packed_weights) {
    if (f[i].kind != argument_kind::weights) m.kind = mistake_kind::not_weights;
    else if (!f[i].fits_spec) m.kind = mistake_kind::other_weights;
  } else {
    m = mistake_in_tensor(s.tensors[i], f[i]);
  }
  m.argument = m.tensor = i;
  return m;
}

/// The first mistake of a call: `f` holds its `count` arguments, without trailing options.
constexpr mistake first_mistake(const signature &s, const argument_facts *f, int count) {
  const int needed = s.tensor_count + s.number_count;
  mistake m{};
  if (count != needed) {
    int i = 0; // the first place where an argument is missing or superfluous
    while (i < count && i < needed && (i < s.tensor_count ? suits(s.tensors[i], f[i]) : f[i].kind == argument_kind::number)) ++i;
    m.kind = count < needed ? mistake_kind::too_few : mistake_kind::too_many;
    m.argument = m.tensor = i;
    m.expected = needed;
    m.got = count;
    return m;
  }
  for (int i = 0; i < count && m.kind == mistake_kind::none; ++i) m = mistake_at(s, f, i);
  return m;
}

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
  using stores = spec_stores<typename stored_type<static_cast<element_type>(Expected < 5 && Expected >= 0 ? Expected : 0)>::type>;
  using given = Given;
};

template <mistake_kind K, class F> struct verdict {};
template <class F> struct verdict<mistake_kind::too_few, F> {
  static_assert(count_agrees<typename F::needs, typename F::gives, typename F::tensor>,
                "an argument is missing: pass query, key, value, output (or hidden, [context,] weights, output), then what the spec returns and declares, in its order, then its run-time numbers");
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

} // namespace detail
} // namespace attune

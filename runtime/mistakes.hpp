// What the compiler can tell of a call: its arguments as data, and the first mistake among them. C++17. Private.
#pragma once
#include "runtime/weights.hpp"

namespace attune {
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
    return {argument_kind::tensor, element_of<element>::known, !std::is_const_v<T>, false, element_of<element>::value, static_cast<int>(sizeof...(Dims)), {Dims::value...}};
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

/// Whether the argument can be meant for this place: a tensor's axes say so, or that it is a number.
constexpr bool suits_place(const signature &s, int place, const argument_facts &f) {
  return place < s.tensor_count ? suits(s.tensors[place], f) : f.kind == argument_kind::number;
}

/// The place among `from` to `last` that an argument is meant for: where it makes no mistake, or else where it suits, or else the first.
constexpr int place_of(const signature &s, const argument_facts &f, int from, int last) {
  for (int place = from; place <= last; ++place)
    if (suits_place(s, place, f) && (place >= s.tensor_count || f.kind == argument_kind::weights || mistake_in_tensor(s.tensors[place], f).kind == mistake_kind::none)) return place;
  for (int place = from; place <= last; ++place)
    if (suits_place(s, place, f)) return place;
  return from;
}

struct missing_places {
  int count = 0;
  int list[maximum_tensors + maximum_numbers] = {};
};
/// The places, tensors and then numbers, that a call with too few arguments leaves out.
constexpr missing_places places_left_out(const signature &s, const argument_facts *f, int count) {
  const int needed = s.tensor_count + s.number_count;
  missing_places missing{};
  int place = 0;
  for (int i = 0; i < count; ++i, ++place) {
    const int taken = place_of(s, f[i], place, needed - count + i); // those behind it need as many places as they are
    for (; place < taken; ++place) missing.list[missing.count++] = place;
  }
  for (; place < needed; ++place) missing.list[missing.count++] = place;
  return missing;
}

/// The first mistake of a call: `f` holds its `count` arguments, without trailing options.
constexpr mistake first_mistake(const signature &s, const argument_facts *f, int count) {
  const int needed = s.tensor_count + s.number_count;
  mistake m{};
  if (count != needed) {
    int i = 0; // the first place where an argument is missing or superfluous
    while (i < count && i < needed && suits_place(s, i, f[i])) ++i;
    m.kind = count < needed ? mistake_kind::too_few : mistake_kind::too_many;
    m.argument = m.tensor = i;
    m.expected = needed;
    m.got = count;
    return m;
  }
  for (int i = 0; i < count && m.kind == mistake_kind::none; ++i) m = mistake_at(s, f, i);
  return m;
}

} // namespace detail
} // namespace attune

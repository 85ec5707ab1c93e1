// kernel<Spec>: what a program calls. Needs the header that Attune emitted for the spec, and nothing else of it. C++17.
//
//   attune::kernel<gpt2>{}(query, key, value, output);                        // throws attune::error
//   attune::status s = attune::kernel<gpt2>{}.try_call(query, key, value, output);
//
// Arguments, in this order: query, key, value, output (or hidden, [context,] packed weights, output); then LSE and attention
// weights if the spec returns them; its inputs and mask tensors in the order written; key_lengths; its run-time numbers
// (scale, softcap, window); and, if wanted, call_options. What the spec knows is checked by the compiler, the rest by
// attune::call (runtime/call.hpp).
#pragma once
#include "runtime/verdict.hpp"
#include "runtime/weights.hpp"

namespace attune {
namespace detail {

template <class Spec, class = void> inline constexpr bool has_emitted_header = false;
template <class Spec> inline constexpr bool has_emitted_header<Spec, std::void_t<decltype(artefact<Spec>::hash)>> = true;

/// One call's arguments, checked by the compiler.
template <class Spec, class... A> struct call_check {
  static constexpr int given = static_cast<int>(sizeof...(A));
  static constexpr mistake find() {
    constexpr argument_facts facts[sizeof...(A) + 1] = {facts_of<Spec, A>::get()...};
    constexpr bool with_options = given > 0 && facts[given > 0 ? given - 1 : 0].kind == argument_kind::options;
    return first_mistake(artefact<Spec>::call, facts, with_options ? given - 1 : given);
  }
  static constexpr mistake m = find();
  static constexpr tensor_role role(int i) { return artefact<Spec>::call.tensors[i < artefact<Spec>::call.tensor_count ? i : 0].role; }
  using judged = verdict<m.kind, found<Spec, m.argument + 1, tensor_of<role(m.tensor)>, tensor_of<role(m.other_tensor)>, m.axis, m.other_axis, m.expected, m.got,
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

} // namespace attune

// Several specs as one type. dsl/pipeline/describe.hpp and dsl/reference/refer.hpp turn a list into a vector.
#pragma once

namespace attune {

template <class... Specs> struct spec_list {};

template <class... A, class... B> constexpr spec_list<A..., B...> operator+(spec_list<A...>, spec_list<B...>) { return {}; }

} // namespace attune

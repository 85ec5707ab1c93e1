// Small specs for the tests of the emitter.
#pragma once
#include "dsl/spec.hpp"

namespace sample {

struct both {
  static constexpr auto spec = attune::attention(attune::heads<2>, attune::head_dim<16>, attune::element<attune::f32>);
};

namespace nested {
struct only_first {
  static constexpr auto spec = attune::attention(attune::heads<2>, attune::head_dim<32>, attune::element<attune::f32>);
};
} // namespace nested

struct only_second {
  static constexpr auto spec = attune::attention(attune::heads<4>, attune::head_dim<16>, attune::element<attune::f32>);
};

struct layered {
  static constexpr auto spec = attune::layer(attune::model_dim<24>, attune::heads<2>, attune::head_dim<16>, attune::element<attune::f32>);
};

} // namespace sample

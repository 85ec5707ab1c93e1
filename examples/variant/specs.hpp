// An attention variant of one's own, beside the same operator without it.
#pragma once
#include "dsl/spec.hpp"

namespace variant {
using namespace attune;

struct plain {
  static constexpr auto spec = operands(heads<16>, head_dim<128>, element<f32>) | scores() | softmax() | weighted_sum();
};

struct slope {};
/// Softcap 50, ALiBi with one slope for each head, and the last 1,024 keys.
struct capped_alibi_window {
  static constexpr auto spec = operands(heads<16>, head_dim<128>, element<f32>, input<slope>(f32, axis::head))
                             | scores([](auto s, auto at) { return 50 * tanh(s / 50) - at(slope{}, at.head) * (at.query - at.key); })
                             | mask([](auto at) { return at.key <= at.query && at.query - at.key < 1024; })
                             | softmax() | weighted_sum();
};

} // namespace variant

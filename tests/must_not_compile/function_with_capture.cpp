// A function that carries a value of its own.
// expect: scores and mask also take functions that capture nothing
#include "dsl/spec.hpp"
using namespace attune;

constexpr auto scaled(int factor) {
#ifdef CORRECTED
  static_cast<void>(factor);
  return [](auto s, auto) { return s * 3; };
#else
  return [factor](auto s, auto) { return s * factor; };
#endif
}
struct broken {
  static constexpr auto spec = operands(heads<12>, head_dim<64>, element<f32>) | scores(scaled(3)) | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

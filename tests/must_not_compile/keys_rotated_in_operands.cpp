// That keys come rotated is said where rotation is: the message names that stage.
// expect: stage_takes<attune::language::operands_stage, attune::key::keys_rotated, attune::language::rope_stage>
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      operands(heads<12>, head_dim<64>, element<f32>, paged<16>) | rope(theta<500000>, keys_rotated)
#else
      operands(heads<12>, head_dim<64>, element<f32>, paged<16>, keys_rotated) | rope(theta<500000>)
#endif
    | softmax() | weighted_sum();
};
int main() { return broken::spec.heads; }

// Keys in an element of their own are not rotated by the call: they come rotated, and the spec says so.
// expect: keys of a cache, in pages or in an element of their own, are not rotated by the call: store them rotated and say so, rope\(keys_rotated
#include "dsl/spec.hpp"
using namespace attune;

struct broken {
  static constexpr auto spec =
#ifdef CORRECTED
      attention(heads<12>, head_dim<64>, element<f32>, kv_element<int8>, kv_scale<per_token>, theta<500000>, keys_rotated);
#else
      attention(heads<12>, head_dim<64>, element<f32>, kv_element<int8>, kv_scale<per_token>, theta<500000>);
#endif
};
int main() { return broken::spec.heads; }

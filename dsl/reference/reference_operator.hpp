// A spec as the scalar reference reads it: the flat numbers, and the user's functions in double precision.
// dsl/reference/refer.hpp makes one from a spec struct. No Halide.
#pragma once
#include "dsl/signature.hpp"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace attune {

struct position_index {
  std::int64_t batch, head, query, key;
  std::int64_t kv_head = 0, position = 0, query_count = 0, key_count = 0;
};
/// Reads the spec's input number `input` (as in reference_operator::inputs), one index per axis, outermost first.
using scalar_reader = std::function<double(int input, const std::vector<std::int64_t> &indices)>;

struct reference_operator {
  std::string name;
  numbers n;
  std::vector<input_declaration> inputs;
  std::vector<std::function<double(double score, const position_index &, const scalar_reader &)>> score_functions;
  std::vector<std::function<bool(const position_index &, const scalar_reader &)>> mask_functions;
  signature call() const { return signature_of(n, inputs.data(), static_cast<int>(inputs.size())); }
};

} // namespace attune

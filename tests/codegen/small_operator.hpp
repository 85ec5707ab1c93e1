// Descriptions of small operators, written by hand: the pipeline is tested without the language.
#pragma once
#include "dsl/pipeline/operator_description.hpp"
#include <cmath>

inline attune::operator_description small_operator(int heads, int head_dim) {
  attune::operator_description op;
  op.name = "small";
  op.n.heads = op.n.kv_heads = heads;
  op.n.head_dim = op.n.value_dim = head_dim;
  op.n.scale = {attune::setting::fixed, 1.0 / std::sqrt(head_dim)};
  return op;
}

// One call with three keys, every value 1: the output is 1 whatever the scores are.
#pragma once
#include "runtime/kernel.hpp"

template <class Spec, int Heads, int Dim> float call_all_ones() {
  using namespace attune::axes;
  attune::tensor<float, batch<1>, head<Heads>, query<3>, head_dim<Dim>> q;
  attune::tensor<float, batch<1>, kv_head<Heads>, key<3>, head_dim<Dim>> k;
  attune::tensor<float, batch<1>, kv_head<Heads>, key<3>, value_dim<Dim>> v;
  attune::tensor<float, batch<1>, head<Heads>, query<3>, value_dim<Dim>> out;
  for (float &one : v) one = 1;
  attune::kernel<Spec>{}(q, k, v, out);
  return out(0, Heads - 1, 2, Dim - 1);
}

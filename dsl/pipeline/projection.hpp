// The project and project_out stages: y = x W + bias, with W packed ahead in panels.
#pragma once
#include "dsl/pipeline/call_arguments.hpp"

namespace attune {

/// result (n, r, b): output feature n of row r; the sum runs over `features`. Elements of the result are rounded as the
/// spec stores them. Panels hold `lanes` output features each; rows past the last one repeat it.
struct projection {
  projection(const std::string &name, int features_in, int features_out, int lanes, element_type, const matrix_arguments &);

  int features_in, features_out, lanes;
  Halide::Var n{"n"}, r{"r"}, b{"b"};
  Halide::Func accumulated, result;
  Halide::RDom features;

  /// What is projected: f32 of (feature, row, batch).
  void of(const std::function<Halide::Expr(Halide::Expr feature, Halide::Expr row, Halide::Expr batch)> &input);

private:
  element_type element;
  matrix_arguments matrix;
};

/// The packing of one matrix: weight f32 (feature out, feature in) with any strides to (lane, feature in, panel), rounded
/// to the spec's element, 0 past the last output feature.
struct packing {
  packing(element_type, int lanes);

  Halide::ImageParam weight;
  Halide::Var lane{"lane"}, feature{"feature"}, panel{"panel"};
  Halide::Func packed{"packed"};
};

} // namespace attune

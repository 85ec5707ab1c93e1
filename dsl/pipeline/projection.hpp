// The project and project_out stages: y = x W + bias, with W packed ahead in panels.
#pragma once
#include "dsl/pipeline/call_arguments.hpp"

namespace attune {

/// How the weights of one matrix lie in a panel: rows of `lanes` output features, one row for each feature in, or for each two of
/// them (`pairs`: 16-bit elements, both of an output feature side by side). `tiles`: pairs that tiles multiply (schedules/tile_products.hpp).
struct panel_layout {
  int lanes;
  bool pairs, tiles;
  int together() const { return pairs ? 2 : 1; }
};

/// result (n, r, b): output feature n of row r, as the spec stores it; the sum runs over `features`, which is (half, pair) for pairs
/// and (feature) otherwise. Rows past the last one repeat it.
struct projection {
  projection(const std::string &name, int features_in, int features_out, const panel_layout &, element_type, const matrix_arguments &);

  int features_in, features_out;
  panel_layout layout;
  Halide::Var n{"n"}, r{"r"}, b{"b"};
  Halide::Func copied; ///< for tiles: the rows of a task, as they are stored (feature, row, batch)
  Halide::Func accumulated, result;
  Halide::RDom features;

  /// What is projected: (feature, row, batch), as the spec stores it, or already as f32 (not for pairs).
  using input_rows = std::function<Halide::Expr(Halide::Expr feature, Halide::Expr row, Halide::Expr batch)>;
  void of(const input_rows &stored);
  void of_f32(const input_rows &);

private:
  void accumulate(const Halide::Expr &product);
  element_type element;
  matrix_arguments matrix;
};

/// The packing of one matrix: weight f32 (feature out, feature in) with any strides to (place in the panel, panel), rounded to the
/// spec's element, 0 past the last output feature.
struct packing {
  packing(element_type, const panel_layout &);

  Halide::ImageParam weight;
  Halide::Var place{"place"}, panel{"panel"};
  Halide::Func packed{"packed"};
};

} // namespace attune

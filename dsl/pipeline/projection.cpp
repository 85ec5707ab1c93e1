#include "dsl/pipeline/projection.hpp"
#include "dsl/pipeline/element.hpp"

namespace attune {
using namespace Halide;

projection::projection(const std::string &name, int in, int out, int panel_lanes, element_type e, const matrix_arguments &m)
    : features_in(in), features_out(out), lanes(panel_lanes), accumulated(name + "_accumulated"), result(name), features(0, in, name + "_features"), element(e),
      matrix(m) {
  const int panels = (features_out + lanes - 1) / lanes;
  matrix.panels.dim(0).set_bounds(0, lanes);
  matrix.panels.dim(1).set_bounds(0, features_in).set_stride(lanes);
  matrix.panels.dim(2).set_bounds(0, panels).set_stride(lanes * features_in);
  matrix.bias.dim(0).set_bounds(0, panels * lanes);
}

void projection::of(const std::function<Expr(Expr, Expr, Expr)> &input) {
  const Expr weight = load_f32(matrix.panels(n % lanes, features, n / lanes), element);
  accumulated(n, r, b) = matrix.bias(n);
  accumulated(n, r, b) += input(features, r, b) * weight;
  result(n, r, b) = store_as(accumulated(n, r, b), element);
}

packing::packing(element_type e, int lanes) : weight(Float(32), 2, "weight") {
  weight.dim(0).set_min(0).set_stride(Expr());
  weight.dim(1).set_min(0);
  const Expr out = panel * lanes + lane, outs = weight.dim(0).extent();
  packed(lane, feature, panel) = store_as(select(out < outs, weight(clamp(out, 0, outs - 1), feature), 0.0f), e);
  packed.output_buffer().dim(0).set_bounds(0, lanes);
  packed.output_buffer().dim(1).set_min(0).set_stride(lanes);
  packed.output_buffer().dim(2).set_min(0);
}

} // namespace attune

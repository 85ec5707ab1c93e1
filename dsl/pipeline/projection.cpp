#include "dsl/pipeline/projection.hpp"
#include "dsl/pipeline/element.hpp"

namespace attune {
using namespace Halide;

projection::projection(const std::string &name, int in, int out, const panel_layout &panels, element_type e, const matrix_arguments &m)
    : features_in(in), features_out(out), layout(panels), copied(name + "_rows"), accumulated(name + "_accumulated"), result(name), element(e), matrix(m) {
  const int count = (features_out + layout.lanes - 1) / layout.lanes;
  matrix.panels.dim(0).set_bounds(0, layout.lanes * features_in);
  matrix.panels.dim(1).set_bounds(0, count).set_stride(layout.lanes * features_in);
  matrix.bias.dim(0).set_bounds(0, count * layout.lanes);
  features = layout.pairs ? RDom(0, 2, 0, features_in / 2, name + "_features") : RDom(0, features_in, name + "_features");
}

void projection::of(const input_rows &stored) {
  if (!layout.pairs) return of_f32([&](const Expr &feature, const Expr &row, const Expr &batch) { return load_f32(stored(feature, row, batch), element); });
  const Expr weight = matrix.panels(features.y * (2 * layout.lanes) + 2 * (n % layout.lanes) + features.x, n / layout.lanes);
  const Expr feature = 2 * features.y + features.x;
  if (layout.tiles) copied(n, r, b) = stored(n, r, b);
  accumulate(dot_factor(layout.tiles ? copied(feature, r, b) : stored(feature, r, b)) * dot_factor(weight));
}

void projection::of_f32(const input_rows &input) {
  const Expr weight = matrix.panels(features.x * layout.lanes + n % layout.lanes, n / layout.lanes);
  accumulate(input(features.x, r, b) * load_f32(weight, element));
}

void projection::accumulate(const Expr &product) {
  const Expr bias = matrix.bias(n);
  accumulated(n, r, b) = layout.tiles ? Expr(0.0f) : bias; // where tiles begin
  accumulated(n, r, b) += product;
  result(n, r, b) = store_as(layout.tiles ? accumulated(n, r, b) + bias : accumulated(n, r, b), element);
}

packing::packing(element_type e, const panel_layout &layout) : weight(Float(32), 2, "weight") {
  weight.dim(0).set_min(0).set_stride(Expr());
  weight.dim(1).set_min(0);
  const int together = layout.together();
  const Expr in_row = place / together, half = place % together;
  const Expr lane = in_row % layout.lanes, feature = in_row / layout.lanes * together + half;
  const Expr out = panel * layout.lanes + lane, outs = weight.dim(0).extent();
  packed(place, panel) = store_as(select(out < outs, weight(clamp(out, 0, outs - 1), feature), 0.0f), e);
  packed.output_buffer().dim(0).set_bounds(0, layout.lanes * weight.dim(1).extent());
  packed.output_buffer().dim(1).set_min(0);
}

} // namespace attune

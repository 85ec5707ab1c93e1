#include "dsl/pipeline/call_arguments.hpp"
#include "dsl/pipeline/element.hpp"

namespace attune {
using namespace Halide;

call_arguments::call_arguments(const operator_description &op, bool converts_f16_)
    : scale("scale"), softcap("softcap"), sigmoid_bias("sigmoid_bias"), window("window"), window_right("window_right"), declared(op.inputs), cache(op.n.cache),
      cached(cache_element(op.n)), converts_f16(converts_f16_) {
  const element_type e = op.n.element;
  switch (op.n.source) {
    case source_kind::operands:
      query = add(e, 4, "query");
      key = add(cache_element(op.n), 4, "key");
      value = add(cache_element(op.n), 4, "value");
      query.dim(0).set_bounds(0, op.n.head_dim);
      key.dim(0).set_bounds(0, op.n.head_dim);
      value.dim(0).set_bounds(0, op.n.value_dim);
      query_count = query.dim(1).extent();
      key_count = key.dim(1).extent();
      batch_count = query.dim(3).extent();
      break;
    case source_kind::cross_projection:
    case source_kind::projection:
      hidden = add(e, 3, "hidden");
      hidden.dim(0).set_bounds(0, op.n.model_dim);
      query_count = hidden.dim(1).extent();
      batch_count = hidden.dim(2).extent();
      key_count = query_count;
      if (op.n.source == source_kind::cross_projection) {
        context = add(e, 3, "context");
        context.dim(0).set_bounds(0, op.n.context_dim);
        key_count = context.dim(1).extent();
      }
      query_matrix = add_matrix(e, "query_matrix");
      key_matrix = add_matrix(e, "key_matrix");
      value_matrix = add_matrix(e, "value_matrix");
      if (op.n.output_dim > 0) output_matrix = add_matrix(e, "output_matrix");
      break;
  }
  for (const input_declaration &i : declared) {
    inputs.push_back(add(i.element, i.rank, i.name));
    if (i.rank > 0) inputs.back().dim(0).set_stride(Expr()); // a caller may broadcast or transpose any axis
  }
  add_cache(op);
  if (op.n.rope.position_offsets) {
    position_offsets = add(element_type::i32, 1, "position_offsets");
    position_offsets.dim(0).set_stride(Expr());
  }
  if (op.n.rope.angle_tables) {
    cos_table = add(element_type::f32, 3, "cos_table");
    sin_table = add(element_type::f32, 3, "sin_table");
    for (ImageParam *table : {&cos_table, &sin_table}) table->dim(0).set_bounds(0, op.n.rope.dims / 2);
  }
  if (op.n.key_lengths) {
    key_lengths = add(element_type::i32, 1, "key_lengths");
    key_lengths.dim(0).set_stride(Expr());
  }
  if (op.n.scale.kind == setting::at_call) arguments.push_back(scale);
  if (op.n.softcap.kind == setting::at_call) arguments.push_back(softcap);
  if (op.n.window.kind == setting::at_call) arguments.push_back(window);
  if (op.n.window_right.kind == setting::at_call) arguments.push_back(window_right);
  if (op.n.sigmoid_bias.kind == setting::at_call) arguments.push_back(sigmoid_bias);
  packed = packed_rows(op, *this);
}

void call_arguments::add_cache(const operator_description &op) {
  if (cache.scale != kv_scaling::off) {
    const int rank = cache.scale == kv_scaling::per_head ? 1 : 3;
    for (const auto &[scales, name] : {std::pair{&key_scale, "key_scale"}, {&value_scale, "value_scale"}}) {
      *scales = add(element_type::f32, rank, name);
      scales->dim(0).set_stride(Expr());
    }
  }
  if (!is_paged(op.n)) return;
  page_table = add(element_type::i32, 2, "page_table");
  page_table.dim(0).set_stride(Expr());
  key_count = page_table.dim(0).extent() * cache.page_size;
  // The call has checked the pages within each batch's length; what the table holds for a batch without keys may be anything.
  Var p("p"), b("b");
  page(p, b) = clamp(page_table(p, b), 0, key.dim(3).extent() - 1);
}

Expr call_arguments::stored(const ImageParam &key_or_value, Expr d, Expr position, Expr kv_head, Expr batch) const {
  if (cache.page_size == 0) return key_or_value(d, position, kv_head, batch);
  return key_or_value(d, position % cache.page_size, kv_head, page(position / cache.page_size, batch));
}

Expr call_arguments::load_stored(const Expr &code) const { return converts_f16 ? load_f32_by_f16(code, cached) : load_f32(code, cached); }

Expr call_arguments::scale_of(const ImageParam &scales, Expr position, Expr kv_head, Expr batch) const {
  if (cache.scale == kv_scaling::per_head) return scales(kv_head);
  if (cache.page_size == 0) return scales(position, kv_head, batch);
  return scales(position % cache.page_size, kv_head, page(position / cache.page_size, batch));
}

ImageParam call_arguments::add(element_type e, int rank, const std::string &name) {
  ImageParam p(stored_type(e), rank, name);
  for (int i = 0; i < rank; ++i) p.dim(i).set_min(0);
  arguments.push_back(p);
  return p;
}

matrix_arguments call_arguments::add_matrix(element_type e, const std::string &name) {
  ImageParam panels = add(e, 2, name);
  return {panels, add(element_type::f32, 1, name + "_bias")};
}

std::vector<Expr> call_arguments::clamped(int input, const std::vector<Expr> &indices) const {
  std::vector<Expr> within;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) within.push_back(clamp(indices[axis], 0, extent(input, static_cast<int>(axis)) - 1));
  return within;
}

Expr call_arguments::stored(int input, const std::vector<Expr> &indices) const {
  return inputs.at(input)(std::vector<Expr>(indices.rbegin(), indices.rend()));
}

Expr call_arguments::read(int input, const std::vector<Expr> &indices) const {
  const element_type e = declared[input].element;
  return is_whole(e) ? cast<int>(stored(input, indices)) : load_f32(stored(input, indices), e);
}

std::vector<Argument> call_arguments::in_order() const { return arguments; }

Expr value_of(const setting &s, const Param<float> &parameter) {
  return s.kind == setting::at_call ? Expr(parameter) : Expr(static_cast<float>(s.value));
}

} // namespace attune

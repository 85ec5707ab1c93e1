// The arguments of a generated function as Halide sees them, in the order that runtime/artefact.hpp promises.
#pragma once
#include "dsl/pipeline/operator_description.hpp"

namespace attune {

/// One projection's weights: panels of output features, innermost first [place in the panel, panel], and the bias f32
/// [panels * lanes] (dsl/pipeline/projection.hpp says how a panel is laid out).
struct matrix_arguments {
  Halide::ImageParam panels, bias;
};

struct call_arguments;

/// Documents by offsets: what a query knows of its own document, i32 (query), computed once per call.
struct packed_rows {
  packed_rows() = default;
  packed_rows(const operator_description &, const call_arguments &);
  Halide::Func first_key, end_key; ///< its keys; neither falls from one query to the next
  Halide::Func position;           ///< where the query stands among the call's keys
  bool defined() const { return position.defined(); }
};

/// Buffers are innermost first: query [head_dim, query, head, batch], key [head_dim, key, kv_head, batch], value
/// [value_dim, key, kv_head, batch], hidden [model_dim, query, batch]; inputs and masks in the reverse of their declared axes.
struct call_arguments {
  /// converts_f16: whether the target's machines convert f16 by themselves.
  explicit call_arguments(const operator_description &, bool converts_f16 = false);

  Halide::ImageParam query, key, value;   ///< operands specs
  Halide::ImageParam hidden, context;     ///< projected specs; context for cross_projection only
  matrix_arguments query_matrix, key_matrix, value_matrix, output_matrix;
  std::vector<Halide::ImageParam> inputs; ///< as operator_description::inputs
  Halide::ImageParam key_scale, value_scale; ///< f32 [kv_head], or as key without its first axis
  Halide::ImageParam page_table;          ///< i32 [sequence_page, batch]; key and value are then [dim, slot, kv_head, page]
  Halide::Func page{"page"};              ///< of it, (sequence_page, batch): in bounds whatever the table holds
  Halide::ImageParam position_offsets;    ///< i32 [batch]
  Halide::ImageParam cos_table, sin_table; ///< f32 [rotary_pair, position, batch]
  Halide::ImageParam key_lengths;         ///< i32 [batch]
  Halide::Param<float> scale, softcap, sigmoid_bias;
  Halide::Param<int> window, window_right;

  Halide::Expr query_count, key_count, batch_count;
  packed_rows packed; ///< defined where documents are packed by offsets

  /// An element of input number `input` as it is stored; indices outermost first, within its extents.
  Halide::Expr stored(int input, const std::vector<Halide::Expr> &indices) const;
  /// The same as functions read it: i32 where the element is whole, else f32.
  Halide::Expr read(int input, const std::vector<Halide::Expr> &indices) const;
  /// Element `d` of a stored key or value: number `position` of the batch's keys, wherever it lies. Every reader of a cache comes here.
  Halide::Expr stored(const Halide::ImageParam &key_or_value, Halide::Expr d, Halide::Expr position, Halide::Expr kv_head, Halide::Expr batch) const;
  /// What the code of a stored key or value says, f32.
  Halide::Expr load_stored(const Halide::Expr &code) const;
  /// The scale of a stored key or value, from key_scale or value_scale.
  Halide::Expr scale_of(const Halide::ImageParam &scales, Halide::Expr position, Halide::Expr kv_head, Halide::Expr batch) const;
  /// Indices brought within an input's extents: tiles reach past the last query.
  std::vector<Halide::Expr> clamped(int input, const std::vector<Halide::Expr> &indices) const;
  /// The extent of axis `axis` of an input, counted from the outermost.
  Halide::Expr extent(int input, int axis) const { return inputs.at(input).dim(declared.at(input).rank - 1 - axis).extent(); }
  /// For Halide's compile functions.
  std::vector<Halide::Argument> in_order() const;

private:
  const std::vector<input_declaration> declared;
  const cache_form cache;
  const element_type cached;
  const bool converts_f16;
  std::vector<Halide::Argument> arguments;

  void add_cache(const operator_description &);
  Halide::ImageParam add(element_type, int rank, const std::string &name);
  matrix_arguments add_matrix(element_type, const std::string &name);
};

/// A fixed setting as a constant, a run-time one as its parameter.
Halide::Expr value_of(const setting &, const Halide::Param<float> &);

} // namespace attune

// The arguments of a generated function as Halide sees them, in the order that runtime/artefact.hpp promises.
#pragma once
#include "dsl/pipeline/operator_description.hpp"

namespace attune {

/// One projection's weights: panels of output features, innermost first [place in the panel, panel], and the bias f32
/// [panels * lanes] (dsl/pipeline/projection.hpp says how a panel is laid out).
struct matrix_arguments {
  Halide::ImageParam panels, bias;
};

/// Buffers are innermost first: query [head_dim, query, head, batch], key [head_dim, key, kv_head, batch], value
/// [value_dim, key, kv_head, batch], hidden [model_dim, query, batch]; inputs and masks in the reverse of their declared axes.
struct call_arguments {
  explicit call_arguments(const operator_description &);

  Halide::ImageParam query, key, value;   ///< operands specs
  Halide::ImageParam hidden, context;     ///< projected specs; context for cross_projection only
  matrix_arguments query_matrix, key_matrix, value_matrix, output_matrix;
  std::vector<Halide::ImageParam> inputs; ///< as operator_description::inputs
  Halide::ImageParam key_lengths;         ///< i32 [batch]
  Halide::Param<float> scale, softcap;
  Halide::Param<int> window;

  Halide::Expr query_count, key_count;

  /// A read of input number `input`, indices outermost first and clamped to its extents: tiles reach past the last query.
  Halide::Expr read(int input, const std::vector<Halide::Expr> &indices) const;
  /// For Halide's compile functions.
  std::vector<Halide::Argument> in_order() const;

private:
  const std::vector<input_declaration> declared;
  std::vector<Halide::Argument> arguments;

  Halide::ImageParam add(element_type, int rank, const std::string &name);
  matrix_arguments add_matrix(element_type, const std::string &name);
};

/// A fixed setting as a constant, a run-time one as its parameter.
Halide::Expr value_of(const setting &, const Halide::Param<float> &);

} // namespace attune

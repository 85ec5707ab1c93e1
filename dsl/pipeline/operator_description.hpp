// A spec as the generating side reads it: the flat numbers, and the user's functions as functions on Halide expressions.
// dsl/pipeline/describe.hpp makes one from a spec struct; nothing behind it knows the chain or Hana.
#pragma once
#include "Halide.h"
#include "dsl/signature.hpp"
#include <functional>
#include <string>
#include <vector>

namespace attune {

/// Where a score sits: absolute indices of the call's tensors, and what place_of (mask.hpp) adds to them for functions.
struct position_expr {
  Halide::Expr batch, head, query, key;
  Halide::Expr kv_head = {}, position = {}, query_count = {}, key_count = {};
};

/// Reads the spec's input number `input` (as in operator_description::inputs), one index per axis, outermost first.
using input_reader = std::function<Halide::Expr(int input, const std::vector<Halide::Expr> &indices)>;
using score_function = std::function<Halide::Expr(Halide::Expr score, const position_expr &, const input_reader &)>;
using mask_function = std::function<Halide::Expr(const position_expr &, const input_reader &)>;

struct operator_description {
  std::string name; ///< of the spec struct, with its namespaces: "gpt2", "my_app::variant"
  numbers n;
  std::vector<input_declaration> inputs;
  std::vector<score_function> score_functions; ///< applied in order, after scale and softcap
  std::vector<mask_function> mask_functions;   ///< all must hold, with the causal, window, length and tensor masks
  signature call() const { return signature_of(n, inputs.data(), static_cast<int>(inputs.size())); }
};

/// The canonical text of a spec: every default written out, user functions as simplified Halide expressions, no name.
std::string canonical_text(const operator_description &);
/// 16 hexadecimal digits: FNV-1a (64 bit) of the canonical text.
std::string spec_hash(const operator_description &);

} // namespace attune

// Attention as a blocked Halide pipeline for CPUs: tiles of queries, chunks of keys, two-level softmax.
//
//   query_tile  queries of a tile, queries innermost (in the vector lanes), scaled
//   dot         query . key, full tiles and masked tiles apart
//   rows        per strip of a tile and chunk, in place: first scores and their running maximum, then weights and their sum
//   sum         weights . value of one chunk
//   merged      the chunks of a tile put together: sum over c of 2^(max_c - max) sum_c; at the end of the tile, or (`running_lanes`)
//               chunk by chunk as they come, so that only one chunk's sum is kept (blocked_running.cpp)
//   output      merged / total, and exactly 0 for empty rows
//
// Under sigmoid there are no maxima and totals: weights stand by themselves, and merged is the output.
//
// Where both products run over pairs of bf16 (`bf16_pairs`), the query tile, the weights and the values are stored as pairs of
// features or keys, and the weights get a buffer of their own (blocked_pairs.cpp).
//
// Loops over key blocks stop at the limits that causal, window and lengths set; other masks are looked up in the tile map.
#pragma once
#include "dsl/pipeline/tile_classifier.hpp"

namespace attune {

/// The structural parameters of a schedule: how the pipeline is cut.
struct blocking {
  int query_tile;     ///< queries per task
  int strip;          ///< queries of one register tile of `dot`; divides query_tile. The mask trims each strip for itself
  int key_chunk;      ///< keys per softmax chunk; 0: all keys in one
  int key_block;      ///< keys per entry of the tile map, and unit of the trimmed loops
  int dot_keys;       ///< keys of one register tile of `dot`; divides key_block
  int row_group;      ///< query rows of one register tile of `sum`; divides strip
  int value_unroll;   ///< keys that `sum` takes at a time; divides dot_keys
  int running_lanes;  ///< 0: chunks are merged at the end. Else as they come, with so many features of a value (a divisor of value_dim) side by side
  bool bf16_pairs;    ///< both products over pairs of bf16, for machines that multiply those: dot_keys and value_unroll are even
  bool tiles;         ///< of `bf16_pairs`: by tiles of 16 x 16 x 16 pairs. Copies of keys and values lie as tiles take them, and sums have the queries innermost
};

/// Where query, key and value come from: arguments, or projections. As the spec stores them, indices (dim, position, head, batch).
struct attention_source {
  Halide::Func query, key, value;
};
attention_source operand_source(const call_arguments &);

struct blocked_attention {
  blocked_attention(const operator_description &, const call_arguments &, const attention_source &, const blocking &);

  blocking cut;
  Halide::Var d{"d"}, q{"q"}, k{"k"}, c{"c"}, t{"t"}, h{"h"}, b{"b"}, g{"g"}, e{"e"}, s{"s"}, block{"block"};
  Halide::Func staged_query{"staged_query"}, query_tile{"query_tile"}, key_rows{"key_rows"}, value_rows{"value_rows"}, value_pairs{"value_pairs"}, staged_values{"staged_values"}, value_columns{"value_columns"};
  Halide::RDom value_blocks; ///< of `value_columns`: (pair, block of pairs) that the tile's rows may need
  Halide::Func full_key_rows{"full_key_rows"}, full_value_rows{"full_value_rows"}; ///< where loops guarantee that the key exists
  tile_classifier classify;
  Halide::Func tile_map{"tile_map"}; ///< i32 tile_class; defined where masks are not affine
  Halide::Func rows{"rows"};
  /// Pairs of bf16 alone: the weights of two keys as 32 bits, the same as bf16 (half, q, s, pair of keys), and their sum by pair of a block.
  Halide::Func weight_pair{"weight_pair"}, weights{"weights"}, pair_totals{"pair_totals"}, ones{"ones"};
  Halide::RDom total_keys;
  /// One way to fill score blocks: their dot product and the loop over (key in register tile, register tile, block).
  struct score_pass {
    Halide::Func dot, copied_keys; ///< copied where tiles multiply keys that may repeat the last one
    Halide::RDom features, keys;
    int update; ///< of `rows`
  };
  std::vector<score_pass> score_passes;
  Halide::RDom weight_keys;
  int sum_row_update = 0, weight_update = 0;
  /// `sum` of one row group, and its loops over ([half of a pair,] key or pair of `value_unroll`, group of keys[, block]).
  Halide::Func group_sum{"group_sum"};
  std::vector<Halide::RDom> sum_keys;
  Halide::Func sum{"sum"}, chunk_maximum{"chunk_maximum"}, chunk_total{"chunk_total"};
  Halide::Func maximum{"maximum"}, chunk_weight{"chunk_weight"}, total{"total"}, inverse_total{"inverse_total"}, merged{"merged"};
  Halide::RDom maximum_chunks, total_chunks, merged_chunks;
  /// Where chunks are merged as they come: what is known of the chunks so far, (lane, column, q, ...), and its loop over (column, chunk).
  Halide::Func running{"running"};
  Halide::Var lane{"lane"}, column{"column"};
  Halide::RDom running_chunks;
  int running_columns() const { return first_value_column + op.n.value_dim / cut.running_lanes; }
  Halide::Func output{"output"}; ///< f32 (d, q, h, b)
  Halide::Func lse{"lse"};       ///< f32 (q, h, b)
  bool has_tile_map = false;
  Halide::Expr chunk_keys;       ///< keys per chunk

  /// Whether weights are divided by their row's total: there are maxima and totals, and chunks are merged by them. Under sigmoid there
  /// are none, and chunks add up.
  bool normalises() const { return op.n.weights == weighting::softmax; }
  /// Whether key_rows and value_rows are f32 copies of a chunk, made once per tile, rather than read in place.
  bool stages_rows() const { return (cache_element(op.n) != element_type::f32 || is_paged(op.n)) && !cut.bf16_pairs; }
  /// Whether keys are copied: to f32, or as pairs out of their pages.
  bool stages_keys() const { return stages_rows() || is_paged(op.n); }

private:
  static constexpr int first_value_column = 4; ///< of `running`
  const operator_description &op;
  const call_arguments &args;

  /// Of a tile, of a strip of it.
  Halide::Expr first_query() const { return t * cut.query_tile; }
  Halide::Expr last_query() const { return min(first_query() + (cut.query_tile - 1), args.query_count - 1); }
  /// The keys that `count` rows of a tile need, from row `first_row` of it on.
  key_limits limits_of_rows(const Halide::Expr &first_row, int count) const;
  Halide::Expr strip_of_group() const { return g * cut.row_group / cut.strip; }
  Halide::Expr weight_of(const Halide::Expr &key);
  /// Loops over (part of a register tile, register tile, block) of the blocks that are not empty.
  Halide::RDom used_blocks(const char *name, int parts);
  void define_operands(const attention_source &);
  void define_value_columns();
  void define_rows();
  void define_weights();
  void define_weight_pairs();
  void add_score_pass(const std::string &name, bool masked, Halide::Expr begin, Halide::Expr end, int wanted_class);
  void add_sum_pass(const Halide::RDom &keys, const Halide::Expr &key, const Halide::Func &values);
  void add_pair_sum_pass(const Halide::RDom &keys, const Halide::Expr &pair);
  void define_sum();
  /// The chunks of a tile that have keys for it: a condition on loops over chunks, and a chunk that is always one of them.
  struct chunk_limits {
    Halide::Expr first, last, count;
    Halide::Expr used(const Halide::Expr &chunk) const { return clamp(chunk, first, max(last - 1, first)); }
  };
  chunk_limits limits_of_chunks() const;
  void define_merge();
  void define_running();
  void define_outputs();
};

} // namespace attune

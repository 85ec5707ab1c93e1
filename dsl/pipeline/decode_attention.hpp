// Attention for few queries as a Halide pipeline for CPUs: keys and values are read once for all the query heads that
// share them; for the second query and the next, a chunk of them comes from cache. Keys are split into chunks, which cores take apart from each other, and merged by their maxima.
//
//   query_rows   scaled queries of the heads that share a key head (or, over pairs of bf16, the queries as stored)
//   lane_sums    query . key, features in the vector lanes
//   scores       of a chunk, keys in the lanes, masked
//   weights      2^(score - largest score of the chunk), f32, or rounded to bf16 where values are multiplied in pairs
//   group_sum    weights . value, features in the lanes
//   partial      of each chunk: the weighted sum, and behind it the largest score and the sum of weights
//   output       the chunks put together: sum over c of 2^(max_c - max) sum_c, by the total; exactly 0 for empty rows
//
// Blocks of keys that the mask leaves empty are skipped: by the limits that causal, window and lengths set, or by the tile map.
//
// Keys of a chunk are taken in order, or in turn from several runs of it (key_streams): memory is read faster in a few streams than in one.
// Scores, weights and the weighted sum keep that order: a lane of a vector holds the key that key_at gives.
#pragma once
#include "dsl/pipeline/blocked_attention.hpp"

namespace attune {

struct decode_blocking {
  int key_chunk;     ///< keys of one partial result
  int key_block;     ///< keys that are skipped together, and that the weighted sum takes at a time; divides key_chunk
  int dot_keys;      ///< keys whose scores are stored as one vector; divides key_block
  int key_streams;   ///< runs of a chunk's keys that a vector takes dot_keys / key_streams of each from; divides dot_keys
  int lanes;         ///< features in one vector of lane_sums
  int value_lanes;   ///< features in one vector of the weighted sum
  int halves;        ///< 2: two stored features are loaded as one word, and summed apart from each other; else 1
  bool bf16_pairs;   ///< query . key over pairs of bf16, the weighted sum over pairs of keys
};

struct decode_attention {
  decode_attention(const operator_description &, const call_arguments &, const attention_source &, const decode_blocking &);

  /// Fewer keys are as a rule in a cache, and are taken in order: 12:12 heads of 64, bf16, 512 keys, one Xeon core: 28.9 GB/s, 26.3 in four streams.
  static constexpr int least_streamed_keys = 1024;

  decode_blocking cut;
  /// Scores and weights have axes (u, k, g, …): lane and number of a vector of dot_keys keys.
  /// g: head among those that share a key head h; n: query; u: lane; x: place in a partial result; e: which of `halves` features.
  Halide::Var d{"d"}, q{"q"}, g{"g"}, n{"n"}, k{"k"}, c{"c"}, h{"h"}, b{"b"}, u{"u"}, x{"x"}, e{"e"}, block{"block"};
  Halide::Func query_rows{"query_rows"}, key_rows{"key_rows"}, value_rows{"value_rows"};
  Halide::Func value_pairs{"value_pairs"}; ///< (which of two keys, feature, pair): what stands two in an instruction
  tile_classifier classify;
  Halide::Func tile_map{"tile_map"}; ///< i32 tile_class; defined where masks are not affine
  Halide::Func lane_sums{"lane_sums"}, dot{"dot"}, scores{"scores"};
  Halide::Func lane_maximum{"lane_maximum"}, chunk_maximum{"chunk_maximum"}, weights{"weights"}, lane_total{"lane_total"}, chunk_total{"chunk_total"};
  Halide::Func group_sum{"group_sum"}, partial{"partial"};
  Halide::RDom features, lanes, unscored_keys, score_keys, maximum_keys, maximum_lanes, weight_keys, total_keys, total_lanes, sum_keys;
  Halide::Func maximum{"maximum"}, chunk_weight{"chunk_weight"}, total{"total"}, merged{"merged"};
  Halide::RDom maximum_chunks, total_chunks, merged_chunks;
  Halide::Func output{"output"};                                   ///< f32 (d, q, head, b)
  Halide::Func lse{"lse"};                                         ///< f32 (q, head, b)
  bool has_tile_map = false;
  int group;                                                       ///< query heads for each key head
  Halide::Expr chunks;
  Halide::Func page() const { return args.page; }                  ///< of a paged cache
  /// Whether there are maxima and totals; under sigmoid chunks add up.
  bool normalises() const { return op.n.weights == weighting::softmax; }
  int steps() const { return op.n.head_dim / ((cut.bf16_pairs ? 2 : 1) * cut.lanes); } ///< vectors of features (or of pairs) of a key
  int partial_extent() const { return op.n.value_dim + (normalises() ? std::max(2, cut.value_lanes * cut.halves) : 0); } ///< of x

private:
  const operator_description &op;
  const call_arguments &args;

  Halide::Expr last_query() const { return args.query_count - 1; }
  key_limits limits() const { return limits_of(op, args, 0, last_query(), b); }
  void define_keys();
  int vectors_of_block() const { return cut.key_block / cut.dot_keys; }
  Halide::Expr first_key, used_blocks; ///< of a chunk: where the first used block begins (0 under a tile map), and the blocks from there to the last key
  /// The key whose score a lane of a vector of the chunk holds.
  Halide::Expr key_at(const Halide::Expr &vector, const Halide::Expr &lane) const;
  /// Trims block `number` of the chunk to those that are not empty: `in_block` is the loop inside it, of `extent` steps.
  void skip_empty(Halide::RDom &, const Halide::Expr &number, const Halide::Expr &in_block, int extent);
  /// The vectors of a chunk from first_key to the last block with a key: nothing is computed past it.
  Halide::RDom used_keys(const char *name) const;
  void define_operands(const attention_source &);
  void define_scores();
  void define_weights();
  /// Feature d * halves + e, f32.
  Halide::Expr value_at(const Halide::Expr &key) const;
  void define_sum();
  void define_merge();
};

} // namespace attune

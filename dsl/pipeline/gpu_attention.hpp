// Attention for a GPU: blocks of keys and a running softmax, as Halide Funcs. The formula only; schedules/gpu_running.cpp lays it out.
//
// One thread block owns one tile of queries of one head and walks over blocks of keys. Between blocks it carries the state
// (largest score, sum of weights, weighted sum of values) of each of its rows; under sigmoid only the last. Scores are in base 2:
// log2(e) is folded in.
//
// Tiles are interleaved over the threads: thread (x, y) of a block of `columns` x `rows` threads owns the queries
// query_row * rows + y and, in the scores, the keys key_column * columns + x of its tile.
#pragma once
#include "dsl/pipeline/blocked_attention.hpp"
#include "dsl/targets.hpp"
#include <vector>

namespace attune {

/// The tile of one thread block, and each thread's share. Rules that tie these numbers: schedules/gpu_running.cpp.
struct gpu_tile {
  int queries = 0;           ///< queries per thread block
  int keys = 0;              ///< keys per step of the running softmax
  int thread_queries = 0;    ///< queries per thread
  int thread_keys = 0;       ///< keys per thread, in the scores
  int padded_head_dim = 0;   ///< head_dim, rounded up to whole register fragments; the rest is zero
  int thread_values = 0;     ///< value features per thread, in the weighted sum
  int columns() const { return keys / thread_keys; }
  int rows() const { return queries / thread_queries; }
  int padded_value_dim() const { return columns() * thread_values; }
};

/// Value features that lie next to each other in one thread: one 16-byte load from shared memory.
inline constexpr int gpu_value_lanes = 4;

/// Which blocks of keys a tile of queries needs. Only the lowered kernel knows how to say it there, tensors that a mask reads
/// included; so it travels through Halide's lowering as further arguments of a call that stands around a value of the loop over key
/// blocks. The pass that cuts this loop (schedules/gpu_passes.hpp) takes the call out again.
struct key_steps {
  static constexpr const char *call = "attune_key_steps";
  Halide::Expr first, end; ///< by causal, prefix, windows, documents by offsets and lengths: [first, end)
  Halide::Expr is_empty;   ///< 1: the mask lets no query of the tile attend to any key of the step. 0 where that takes ranges of tensors
  Halide::Expr around(Halide::Expr value) const;
};

/// The Funcs of one operator, unscheduled. Axes innermost first.
struct gpu_attention {
  gpu_attention(const operator_description &, const target_info &, const gpu_tile &);

  gpu_tile tile;
  call_arguments arguments;
  bool normalises; ///< softmax; else sigmoid: thread_max, block_max and block_sum are not defined

  Halide::Var dim{"dim"}, row{"row"}, head{"head"}, batch{"batch"}; ///< of the tensors: feature, query, head, batch
  Halide::Var block{"block"}, step{"step"};                         ///< tile of queries, block of keys
  Halide::Var x{"x"}, y{"y"};                                       ///< the thread
  Halide::Var query_row{"query_row"}, key_column{"key_column"};     ///< a thread's queries and keys
  Halide::Var tile_row{"tile_row"}, lane{"lane"}, lane_group{"lane_group"}, feature{"feature"};

  Halide::Func angles{"angles"}, turns{"turns"}; ///< of rotary_source; defined only if the spec turns queries by computed angles
  Halide::Func query_tile{"query_tile"}, key_tile{"key_tile"}, value_tile{"value_tile"};                   ///< f32, in shared memory
  Halide::Func query_fragment{"query_fragment"}, key_fragment{"key_fragment"};                             ///< in registers
  Halide::Func weight_fragment{"weight_fragment"}, value_fragment{"value_fragment"};
  Halide::Func dot{"dot"}, score{"score"}, thread_max{"thread_max"}, block_max{"block_max"};
  Halide::Func weight{"weight"}, block_sum{"block_sum"}, block_output{"block_output"};
  Halide::Func state{"state"};                                      ///< Tuple: maximum and sum (not under sigmoid), then one value feature each
  Halide::Func output{"output"}, lse{"lse"};                        ///< lse is defined only if the spec returns it
  Halide::RDom head_dims, thread_columns, thread_key_columns, block_keys, steps;

  std::vector<Halide::Func> results() const;

private:
  void constrain_buffers(const operator_description &);
  attention_source source_of(const operator_description &, const target_info &); ///< what a call brings, rotated
  void stage_tiles(const operator_description &, const target_info &);
  void scores(const operator_description &);
  void maximum_of_block();
  void weights_of_block(const operator_description &, const target_info &);
  void weighted_sum(const operator_description &);
  key_steps needed_steps(const operator_description &) const; ///< of tile `block` and the step that `steps` is at
  void running_state(const operator_description &, const target_info &);
  void results_of_state(const operator_description &);
};

} // namespace attune

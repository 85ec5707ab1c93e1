// The weights and the weighted sum over pairs of bf16. Weights are cut to bf16, and their total is the total of what was cut, so
// that cutting does not bias the average.
#include "dsl/pipeline/blocked_attention.hpp"
#include "dsl/pipeline/element.hpp"

namespace attune {
using namespace Halide;

void blocked_attention::define_weight_pairs() {
  const auto bits = [&](const Expr &key) { return reinterpret<std::uint32_t>(weight_of(key)); };
  weight_pair(q, s, k, c, t, h, b) = (bits(2 * k) >> 16) | (bits(2 * k + 1) & detail::u32(0xffff0000));
  weights(e, q, s, k, c, t, h, b) = undef<std::uint16_t>();
  const int tile_pairs = cut.dot_keys / 2;
  weight_keys = used_blocks("weight_pairs", tile_pairs);
  const Expr pair = weight_keys.z * (cut.key_block / 2) + weight_keys.y * tile_pairs + weight_keys.x;
  weights(e, q, s, pair, c, t, h, b) = half_of(weight_pair(q, s, pair, c, t, h, b), e);

  if (!normalises()) return;
  // Totals by the same instruction, one chain of additions for each pair of a register tile.
  ones(e) = cast<std::uint16_t>(0x3f80);
  total_keys = used_blocks("total_keys", 2);
  const Expr tile = total_keys.z * (cut.key_block / 2) + total_keys.y * tile_pairs;
  pair_totals(q, s, k, c, t, h, b) = 0.0f;
  pair_totals(q, s, k, c, t, h, b) += dot_factor(weights(total_keys.x, q, s, tile + k, c, t, h, b)) * dot_factor(ones(total_keys.x));
  const auto chain = [&](int i) { return pair_totals(q % cut.strip, q / cut.strip, i, c, t, h, b); };
  Expr all = chain(0);
  for (int i = 1; i < tile_pairs; ++i) all = all + chain(i);
  chunk_total(q, c, t, h, b) = all;
}

void blocked_attention::define_value_columns() {
  const int pairs = cut.value_unroll / 2, of_block = cut.key_block / cut.value_unroll; // the tile map's blocks are used as a whole
  const key_limits limits = limits_of(op, args, first_query(), last_query(), b);
  const Expr first_block = c * (chunk_keys / cut.value_unroll);
  value_blocks = RDom(0, pairs, 0, chunk_keys / cut.value_unroll, "value_blocks");
  value_blocks.where(value_blocks.y >= limits.begin / cut.key_block * of_block - first_block);
  value_blocks.where(value_blocks.y < (limits.end + (cut.key_block - 1)) / cut.key_block * of_block - first_block);
  const Expr pair = value_blocks.y * pairs + value_blocks.x;
  value_columns(e, k, d, c, t, h, b) = undef<std::uint16_t>();
  value_columns(e, pair, d, c, t, h, b) = half_of(staged_values(d, pair, c, t, h, b), e);
}

void blocked_attention::add_pair_sum_pass(const RDom &keys, const Expr &pair) {
  const Expr row = g * cut.row_group + q, weight = weights(keys.x, row % cut.strip, row / cut.strip, pair, c, t, h, b);
  const Expr value = cut.tiles ? value_columns(keys.x, pair, d, c, t, h, b) : value_pairs(keys.x, d, pair, c, t, h, b);
  group_sum(d, q, g, c, t, h, b) += dot_factor(weight) * dot_factor(value);
  sum_keys.push_back(keys);
}

} // namespace attune

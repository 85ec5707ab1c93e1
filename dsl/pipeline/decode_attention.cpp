#include "dsl/pipeline/decode_attention.hpp"
#include "dsl/pipeline/element.hpp"
#include "dsl/pipeline/scores.hpp"
#include "dsl/pipeline/softmax.hpp"

namespace attune {
using namespace Halide;

decode_attention::decode_attention(const operator_description &description, const call_arguments &arguments, const attention_source &source,
                                   const decode_blocking &how)
    : cut(how), classify(description, arguments, arguments.query_count, how.key_block), has_tile_map(!is_affine(description)), group(description.n.heads / description.n.kv_heads),
      chunks(max((arguments.key_count + (how.key_chunk - 1)) / how.key_chunk, 1)), op(description), args(arguments) {
  define_keys();
  define_operands(source);
  define_scores();
  define_weights();
  define_sum();
  define_merge();
}

void decode_attention::define_operands(const attention_source &source) {
  // Reads past the last key repeat it: nothing beyond a batch's length is ever read.
  const Expr key = min(key_at(k / cut.dot_keys, k % cut.dot_keys), max(limits().end - 1, 0));
  const Expr query = source.query(d, n, h * group + g, b);
  key_rows(d, k, c, h, b) = source.key(d, key, h, b);
  value_rows(d, k, c, h, b) = source.value(d, key, h, b);
  value_pairs(e, d, k, c, h, b) = value_rows(d, 2 * k + e, c, h, b);
  query_rows(d, g, n, h, b) = cut.bf16_pairs ? query : load_f32(query, op.n.element) * query_factor(op, args);
}

void decode_attention::define_keys() {
  const auto in_chunk = [&](const Expr &key) { return clamp(key - c * cut.key_chunk, 0, cut.key_chunk); };
  first_key = !has_tile_map && begins_late(op) ? in_chunk(limits().begin) / cut.key_block * cut.key_block : Expr(0);
  used_blocks = (max(in_chunk(limits().end) - first_key, 0) + (cut.key_block - 1)) / cut.key_block;
}

Expr decode_attention::key_at(const Expr &vector, const Expr &lane) const {
  const Expr from = c * cut.key_chunk + first_key;
  if (cut.key_streams == 1) return from + vector * cut.dot_keys + lane;
  const int in_turn = cut.dot_keys / cut.key_streams;
  // The lane's stream, times in_turn, by its bits: a vector divided by a number Halide takes apart, and every operation on it.
  const Expr stream = clamp(lane & -in_turn, 0, cut.dot_keys - in_turn), in_order = limits().end - limits().begin < least_streamed_keys;
  return from + stream * select(in_order, 1, used_blocks * vectors_of_block()) + vector * select(in_order, cut.dot_keys, in_turn) + clamp(lane - stream, 0, in_turn - 1);
}

void decode_attention::skip_empty(RDom &keys, const Expr &number, const Expr &in_block, int extent) {
  if (has_tile_map) // as a limit of the loop inside the block: Halide trims loops, but leaves an `if` on a load innermost
    keys.where(in_block < select(tile_map(number, c, h, b) != static_cast<int>(empty_tile), extent, 0));
  else keys.where(number < used_blocks);
}

RDom decode_attention::used_keys(const char *name) const {
  RDom vectors(0, cut.key_chunk / cut.dot_keys, name);
  vectors.where(vectors < used_blocks * vectors_of_block());
  return vectors;
}

void decode_attention::define_scores() {
  if (has_tile_map) { // one class for all the heads of a group and all queries: empty only where it is for each of them
    Expr any = Expr(static_cast<int>(empty_tile));
    for (int head = 0; head < group; ++head)
      any = max(any, select(classify(0, c * (cut.key_chunk / cut.key_block) + block, h * group + head, b) != static_cast<int>(empty_tile), static_cast<int>(partial_tile),
                            static_cast<int>(empty_tile)));
    tile_map(block, c, h, b) = any;
  }
  lane_sums(u, g, k, n, c, h, b) = 0.0f;
  if (cut.bf16_pairs) {
    features = RDom(0, 2, 0, steps(), "features");
    const Expr feature = features.y * (2 * cut.lanes) + 2 * u + features.x;
    lane_sums(u, g, k, n, c, h, b) += dot_factor(key_rows(feature, k, c, h, b)) * dot_factor(query_rows(feature, g, n, h, b));
  } else {
    features = RDom(0, steps(), "features");
    const Expr feature = features.x * cut.lanes + u;
    lane_sums(u, g, k, n, c, h, b) += args.load_stored(key_rows(feature, k, c, h, b)) * query_rows(feature, g, n, h, b);
  }
  lanes = RDom(0, cut.lanes, "lanes");
  dot(g, k, n, c, h, b) = 0.0f;
  dot(g, k, n, c, h, b) += lane_sums(lanes, g, k, n, c, h, b);

  scores(u, k, g, n, c, h, b) = undef<float>();
  if (has_tile_map) { // else every used block is scored
    unscored_keys = used_keys("unscored_keys");
    scores(u, unscored_keys, g, n, c, h, b) = masked_score;
  }
  const int vectors = vectors_of_block();
  score_keys = RDom(0, vectors, 0, cut.key_chunk / cut.key_block, "score_keys");
  skip_empty(score_keys, score_keys.y, score_keys.x, vectors);
  const Expr vector = score_keys.y * vectors + score_keys.x, key = vector * cut.dot_keys + u;
  const position_expr at{b, h * group + g, n, key_at(vector, u)};
  const Expr product = dot_of_key(op, args, dot(g, key, n, c, h, b), at);
  const Expr score = base2_score(op, args, cut.bf16_pairs ? product * query_factor(op, args) : product, at); // pairs hold queries as stored
  scores(u, vector, g, n, c, h, b) = masked(score, allowed(op, args, at));
}

void decode_attention::define_weights() {
  weight_keys = used_keys("weight_keys");
  const element_type stored = cut.bf16_pairs ? element_type::bf16 : element_type::f32;
  weights(u, k, g, n, c, h, b) = undef(stored_type(stored));
  if (!normalises()) {
    weights(u, weight_keys, g, n, c, h, b) = store_as(sigmoid_by(exp2_nonpositive_fast_math, scores(u, weight_keys, g, n, c, h, b)), stored);
    return;
  }
  lane_maximum(u, g, n, c, h, b) = no_score;
  maximum_keys = used_keys("maximum_keys");
  lane_maximum(u, g, n, c, h, b) = max(lane_maximum(u, g, n, c, h, b), scores(u, maximum_keys, g, n, c, h, b));
  maximum_lanes = RDom(0, cut.dot_keys, "maximum_lanes");
  chunk_maximum(g, n, c, h, b) = no_score;
  chunk_maximum(g, n, c, h, b) = max(chunk_maximum(g, n, c, h, b), lane_maximum(maximum_lanes, g, n, c, h, b));

  weights(u, weight_keys, g, n, c, h, b) = store_as(exp2_nonpositive_fast_math(scores(u, weight_keys, g, n, c, h, b) - chunk_maximum(g, n, c, h, b)), stored);
  lane_total(u, g, n, c, h, b) = 0.0f;
  total_keys = used_keys("total_keys");
  lane_total(u, g, n, c, h, b) += load_f32(weights(u, total_keys, g, n, c, h, b), stored); // of what the weighted sum reads
  total_lanes = RDom(0, cut.dot_keys, "total_lanes");
  chunk_total(g, n, c, h, b) = 0.0f;
  chunk_total(g, n, c, h, b) += lane_total(total_lanes, g, n, c, h, b);
}

Expr decode_attention::value_at(const Expr &key) const {
  return args.load_stored(value_rows(d * cut.halves + e, key, c, h, b));
}

void decode_attention::define_sum() {
  const int blocks = cut.key_chunk / cut.key_block;
  group_sum(d, e, g, n, c, h, b) = 0.0f;
  if (cut.bf16_pairs) {
    sum_keys = RDom(0, 2, 0, cut.key_block / 2, 0, blocks, "sum_keys");
    skip_empty(sum_keys, sum_keys.z, sum_keys.y, cut.key_block / 2);
    const Expr pair = sum_keys.z * (cut.key_block / 2) + sum_keys.y, vector_pairs = cut.dot_keys / 2;
    const Expr weight = weights(pair % vector_pairs * 2 + sum_keys.x, pair / vector_pairs, g, n, c, h, b);
    group_sum(d, e, g, n, c, h, b) += dot_factor(value_pairs(sum_keys.x, d, pair, c, h, b)) * dot_factor(weight);
  } else {
    sum_keys = RDom(0, cut.key_block, 0, blocks, "sum_keys");
    skip_empty(sum_keys, sum_keys.y, sum_keys.x, cut.key_block);
    const Expr key = sum_keys.y * cut.key_block + sum_keys.x;
    const Expr weight = weights(key % cut.dot_keys, key / cut.dot_keys, g, n, c, h, b), value = value_at(key);
    group_sum(d, e, g, n, c, h, b) += weight_of_stored(op, args, weight, key_at(key / cut.dot_keys, key % cut.dot_keys), h, b) *
                                      (op.n.masked_values == masked_value_policy::anything ? only_where_weighted(value, weight) : value);
  }
  const Expr place = x - op.n.value_dim, feature = min(x, op.n.value_dim - 1);
  const Expr sum_of_chunk = group_sum(feature / cut.halves, feature % cut.halves, g, n, c, h, b);
  if (normalises()) partial(x, g, n, c, h, b) = select(place < 0, sum_of_chunk, place == 0, chunk_maximum(g, n, c, h, b), chunk_total(g, n, c, h, b));
  else partial(x, g, n, c, h, b) = sum_of_chunk;
}

void decode_attention::define_merge() {
  const int at_maximum = op.n.value_dim, at_total = op.n.value_dim + 1;
  for (RDom *r : {&maximum_chunks, &total_chunks, &merged_chunks}) *r = RDom(0, chunks, "merged_chunks");
  const Expr in_group = h % group, key_head = h / group;
  merged(d, g, n, h, b) = 0.0f;
  if (!normalises()) {
    merged(d, g, n, h, b) += partial(d, g, n, merged_chunks, h, b);
    output(d, q, h, b) = merged(d, in_group, q, key_head, b);
    return;
  }
  const Expr sink = sink_score(op, args, h * group + g);
  maximum(g, n, h, b) = sink;
  maximum(g, n, h, b) = max(maximum(g, n, h, b), partial(at_maximum, g, n, maximum_chunks, h, b));
  chunk_weight(c, g, n, h, b) = exp2_nonpositive_fast_math(partial(at_maximum, g, n, c, h, b) - maximum(g, n, h, b));
  total(g, n, h, b) = op.n.sinks ? exp2_nonpositive_fast_math(sink - maximum(g, n, h, b)) : Expr(0.0f);
  total(g, n, h, b) += chunk_weight(total_chunks, g, n, h, b) * partial(at_total, g, n, total_chunks, h, b);
  merged(d, g, n, h, b) += chunk_weight(merged_chunks, g, n, h, b) * partial(d, g, n, merged_chunks, h, b);

  const Expr of_row = maximum(in_group, q, key_head, b), sum_of_row = total(in_group, q, key_head, b);
  output(d, q, h, b) = select(is_empty_row(of_row, sum_of_row), 0.0f, merged(d, in_group, q, key_head, b) / sum_of_row);
  lse(q, h, b) = log_sum_exp(of_row, sum_of_row);
}

} // namespace attune

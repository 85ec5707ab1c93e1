#include "dsl/pipeline/blocked_attention.hpp"
#include "dsl/pipeline/element.hpp"
#include "dsl/pipeline/scores.hpp"
#include "dsl/pipeline/softmax.hpp"

namespace attune {
using namespace Halide;

namespace {
Expr ceiling_div(Expr a, int b) { return (a + (b - 1)) / b; }
} // namespace

attention_source operand_source(const call_arguments &args) {
  Var d("d"), n("n"), h("h"), b("b");
  attention_source s{Func("stored_query"), Func("stored_key"), Func("stored_value")};
  s.query(d, n, h, b) = args.query(d, n, h, b);
  s.key(d, n, h, b) = args.stored(args.key, d, n, h, b);
  s.value(d, n, h, b) = args.stored(args.value, d, n, h, b);
  return s;
}

blocked_attention::blocked_attention(const operator_description &description, const call_arguments &arguments, const attention_source &source,
                                     const blocking &how)
    : cut(how), classify(description, arguments, how.strip, how.key_block), op(description), args(arguments) {
  chunk_keys = cut.key_chunk > 0 ? Expr(cut.key_chunk) : max(ceiling_div(args.key_count, cut.key_block), 1) * cut.key_block;
  define_operands(source);
  define_rows();
  define_sum();
  if (cut.running_lanes > 0) define_running();
  else define_merge();
  define_outputs();
}

void blocked_attention::define_operands(const attention_source &source) {
  const int group = op.n.heads / op.n.kv_heads;
  const Expr query = min(t * cut.query_tile + q, args.query_count - 1);
  // Reads past the last key of a tile repeat that key: nothing beyond a batch's length is ever read.
  const Expr last_key = max(limits_of(op, args, first_query(), last_query(), b).end - 1, 0);
  const Expr key = c * chunk_keys + k;
  const Expr repeated = min(key, last_key), promised = unsafe_promise_clamped(key, 0, args.key_count - 1);
  const auto f32 = [&](const Expr &stored) { return args.load_stored(stored); };
  if (cut.bf16_pairs) {
    staged_query(d, q, t, h, b) = concat_bits({source.query(2 * d, query, h, b), source.query(2 * d + 1, query, h, b)});
    query_tile(e, q, d, t, h, b) = half_of(staged_query(d, q, t, h, b), e);
    key_rows(d, k, c, t, h, b) = source.key(d, repeated, h / group, b);
    if (!stages_keys()) full_key_rows(d, k, c, t, h, b) = source.key(d, promised, h / group, b);
    const auto value = [&](const Expr &half) { return source.value(d, min(c * chunk_keys + 2 * k + half, last_key), h / group, b); };
    if (!cut.tiles) value_pairs(e, d, k, c, t, h, b) = value(e);
    else {
      staged_values(d, k, c, t, h, b) = concat_bits({value(0), value(1)});
      define_value_columns();
    }
    return;
  }
  staged_query(d, q, t, h, b) = load_f32(source.query(d, query, h, b), op.n.element) * query_factor(op, args);
  query_tile(q, d, t, h, b) = staged_query(d, q, t, h, b);
  key_rows(d, k, c, t, h, b) = f32(source.key(d, repeated, h / group, b));
  value_rows(d, k, c, t, h, b) = f32(source.value(d, repeated, h / group, b));
  if (stages_rows()) return;
  full_key_rows(d, k, c, t, h, b) = f32(source.key(d, promised, h / group, b));
  full_value_rows(d, k, c, t, h, b) = f32(source.value(d, promised, h / group, b));
}

key_limits blocked_attention::limits_of_rows(const Expr &first_row, int count) const {
  const Expr first = first_query() + first_row, last = args.query_count - 1;
  key_limits l = limits_of(op, args, min(first, last), min(first + (count - 1), last), b);
  l.end = select(first > last, 0, l.end); // rows past the last query have no keys
  return l;
}

void blocked_attention::add_score_pass(const std::string &name, bool is_masked, Expr begin, Expr end, int wanted_class) {
  const std::string prefix = name + "_scores";
  score_pass pass{Func(name + "_dot"), Func(), RDom(0, op.n.head_dim, name + "_features"),
                  RDom(0, cut.dot_keys, 0, cut.key_block / cut.dot_keys, 0, chunk_keys / cut.key_block, prefix), 0};
  pass.dot(q, s, k, c, t, h, b) = 0.0f;
  Func keys = is_masked || stages_keys() ? key_rows : full_key_rows;
  if (cut.tiles && is_masked && !stages_keys()) {
    keys = pass.copied_keys = Func(name + "_keys");
    keys(d, k, c, t, h, b) = key_rows(d, k, c, t, h, b);
  }
  const Expr f = pass.features;
  if (cut.bf16_pairs) pass.dot(q, s, k, c, t, h, b) += dot_factor(keys(f, k, c, t, h, b)) * dot_factor(query_tile(f % 2, s * cut.strip + q, f / 2, t, h, b));
  else pass.dot(q, s, k, c, t, h, b) += keys(f, k, c, t, h, b) * query_tile(s * cut.strip + q, f, t, h, b);
  if (has_tile_map) { // as a limit of the loop inside the block: Halide trims loops, but leaves an `if` on a load innermost
    pass.keys.where(pass.keys.y < select(tile_map(pass.keys.z, s, c, t, h, b) == wanted_class, cut.key_block / cut.dot_keys, 0));
  } else { // one condition each with coefficient 1 on the block: Halide trims the loop exactly
    const Expr first_block = c * (chunk_keys / cut.key_block);
    pass.keys.where(pass.keys.z >= begin - first_block);
    pass.keys.where(pass.keys.z < end - first_block);
  }
  const Expr key = pass.keys.z * cut.key_block + pass.keys.y * cut.dot_keys + pass.keys.x;
  const position_expr at{b, h, t * cut.query_tile + s * cut.strip + q, c * chunk_keys + key};
  const Expr dot = dot_of_key(op, args, pass.dot(q, s, key, c, t, h, b), at);
  Expr score = base2_score(op, args, cut.bf16_pairs ? dot * query_factor(op, args) : dot, at); // pairs hold queries as they are stored
  if (is_masked) score = masked(score, allowed(op, args, at));
  const Expr maximum_row = chunk_keys; // the row of `rows` that holds the running maximum
  if (normalises()) rows(q, s, scatter(key, maximum_row), c, t, h, b) = gather(score, max(rows(q, s, maximum_row, c, t, h, b), score));
  else rows(q, s, key, c, t, h, b) = score;
  pass.update = rows.num_update_definitions() - 1;
  score_passes.push_back(pass);
}

void blocked_attention::define_rows() {
  has_tile_map = !is_affine(op);
  const key_limits limits = limits_of_rows(s * cut.strip, cut.strip);
  const Expr first = limits.begin / cut.key_block, last = ceiling_div(limits.end, cut.key_block);
  const Expr first_full = clamp(ceiling_div(limits.full_begin, cut.key_block), first, max(first, last));
  const Expr last_full = clamp(limits.full_end / cut.key_block, first_full, max(first_full, last));
  if (has_tile_map)
    tile_map(block, s, c, t, h, b) = classify(t * (cut.query_tile / cut.strip) + s, c * (chunk_keys / cut.key_block) + block, h, b);

  rows(q, s, k, c, t, h, b) = undef<float>();
  if (normalises()) rows(q, s, chunk_keys, c, t, h, b) = no_score;
  if (!has_tile_map && begins_late(op)) add_score_pass("window", true, first, first_full, partial_tile);
  add_score_pass("full", false, first_full, last_full, full_tile);
  add_score_pass("masked", true, last_full, last, partial_tile);

  if (cut.bf16_pairs) define_weight_pairs();
  else define_weights();
}

RDom blocked_attention::used_blocks(const char *name, int parts) {
  RDom r(0, parts, 0, cut.key_block / cut.dot_keys, 0, chunk_keys / cut.key_block, name);
  if (has_tile_map) {
    r.where(r.y < select(tile_map(r.z, s, c, t, h, b) != static_cast<int>(empty_tile), cut.key_block / cut.dot_keys, 0));
  } else {
    const key_limits limits = limits_of_rows(s * cut.strip, cut.strip);
    const Expr first_block = c * (chunk_keys / cut.key_block);
    r.where(r.z >= limits.begin / cut.key_block - first_block);
    r.where(r.z < ceiling_div(limits.end, cut.key_block) - first_block);
  }
  return r;
}

Expr blocked_attention::weight_of(const Expr &key) {
  if (!normalises()) {
    const Expr weight = sigmoid_by(exp2_nonpositive, rows(q, s, key, c, t, h, b));
    return cut.bf16_pairs ? weight * mean_cut : weight;
  }
  const Expr below_maximum = rows(q, s, key, c, t, h, b) - rows(q, s, chunk_keys, c, t, h, b);
  return cut.bf16_pairs ? exp2_nonpositive_before_cut(below_maximum) : exp2_nonpositive(below_maximum);
}

void blocked_attention::define_weights() {
  const Expr total_row = chunk_keys + 1;
  if (normalises()) {
    rows(q, s, total_row, c, t, h, b) = 0.0f;
    sum_row_update = rows.num_update_definitions() - 1;
  }
  weight_keys = used_blocks("weight_keys", cut.dot_keys);
  const Expr key = weight_keys.z * cut.key_block + weight_keys.y * cut.dot_keys + weight_keys.x;
  const Expr weight = weight_of(key);
  const Expr stored = weight_of_stored(op, args, weight, c * chunk_keys + key, h / (op.n.heads / op.n.kv_heads), b);
  if (normalises()) rows(q, s, scatter(key, total_row), c, t, h, b) = gather(stored, rows(q, s, total_row, c, t, h, b) + weight);
  else rows(q, s, key, c, t, h, b) = stored;
  weight_update = rows.num_update_definitions() - 1;
}

void blocked_attention::add_sum_pass(const RDom &keys, const Expr &key, const Func &values) {
  const Expr row = g * cut.row_group + q, weight = rows(row % cut.strip, row / cut.strip, key, c, t, h, b);
  Expr value = values(d, key, c, t, h, b);
  if (op.n.masked_values == masked_value_policy::anything) value = only_where_weighted(value, weight);
  group_sum(d, q, g, c, t, h, b) += weight * value;
  sum_keys.push_back(keys);
}

void blocked_attention::define_sum() {
  const int unroll = cut.value_unroll;
  const Expr strip = strip_of_group();
  group_sum(d, q, g, c, t, h, b) = 0.0f;
  if (has_tile_map) {
    if (cut.bf16_pairs) {
      RDom keys(0, 2, 0, unroll / 2, 0, cut.key_block / unroll, 0, chunk_keys / cut.key_block, "sum_keys");
      keys.where(keys.z < select(tile_map(keys.w, strip, c, t, h, b) != static_cast<int>(empty_tile), cut.key_block / unroll, 0));
      add_pair_sum_pass(keys, keys.w * (cut.key_block / 2) + keys.z * (unroll / 2) + keys.y);
    } else {
      RDom keys(0, unroll, 0, cut.key_block / unroll, 0, chunk_keys / cut.key_block, "sum_keys");
      keys.where(keys.y < select(tile_map(keys.z, strip, c, t, h, b) != static_cast<int>(empty_tile), cut.key_block / unroll, 0));
      add_sum_pass(keys, keys.z * cut.key_block + keys.y * unroll + keys.x, value_rows);
    }
  } else {
    const key_limits limits = limits_of_rows(g * cut.row_group, cut.row_group);
    const Expr first = limits.begin / unroll, last = ceiling_div(limits.end, unroll);
    const Expr chunk_begin = c * (chunk_keys / unroll);
    const Expr last_whole = stages_rows() ? last : min(last, key_count_of(op, args, b) / unroll);
    const auto pass = [&](const char *name, const Expr &from, const Expr &to, const Func &values) {
      RDom keys(0, unroll, 0, chunk_keys / unroll, name);
      keys.where(keys.y >= from - chunk_begin);
      keys.where(keys.y < to - chunk_begin);
      add_sum_pass(keys, keys.y * unroll + keys.x, values);
    };
    if (cut.bf16_pairs) {
      RDom keys(0, 2, 0, unroll / 2, 0, chunk_keys / unroll, "sum_keys");
      keys.where(keys.z >= first - chunk_begin);
      keys.where(keys.z < last - chunk_begin);
      add_pair_sum_pass(keys, keys.z * (unroll / 2) + keys.y);
    } else pass("sum_keys", first, last_whole, stages_rows() ? value_rows : full_value_rows);
    if (!cut.bf16_pairs && !stages_rows()) pass("last_sum_keys", max(first, last_whole), last, value_rows);
  }
  sum(d, q, c, t, h, b) = group_sum(d, q % cut.row_group, q / cut.row_group, c, t, h, b);
  if (!normalises()) return;
  chunk_maximum(q, c, t, h, b) = rows(q % cut.strip, q / cut.strip, chunk_keys, c, t, h, b);
  if (!cut.bf16_pairs) chunk_total(q, c, t, h, b) = rows(q % cut.strip, q / cut.strip, chunk_keys + 1, c, t, h, b);
}

blocked_attention::chunk_limits blocked_attention::limits_of_chunks() const {
  const key_limits limits = limits_of(op, args, first_query(), last_query(), b);
  return {limits.begin / chunk_keys, (limits.end + chunk_keys - 1) / chunk_keys, (args.key_count + chunk_keys - 1) / chunk_keys};
}

void blocked_attention::define_merge() {
  const chunk_limits chunks = limits_of_chunks();
  const auto chunk_domain = [&](const char *name) {
    RDom r(0, chunks.count, name);
    r.where(r >= chunks.first);
    r.where(r < chunks.last);
    return r;
  };
  merged_chunks = chunk_domain("merged_chunks");
  const Expr merged_chunk = chunks.used(merged_chunks);
  merged(d, q, t, h, b) = 0.0f;
  if (!normalises()) {
    merged(d, q, t, h, b) += sum(d, q, merged_chunk, t, h, b);
    return;
  }
  maximum_chunks = chunk_domain("maximum_chunks");
  total_chunks = chunk_domain("total_chunks");
  const Expr sink = sink_score(op, args, h);
  maximum(q, t, h, b) = sink;
  maximum(q, t, h, b) = max(maximum(q, t, h, b), chunk_maximum(q, chunks.used(maximum_chunks), t, h, b));
  chunk_weight(q, c, t, h, b) = exp2_nonpositive(chunk_maximum(q, c, t, h, b) - maximum(q, t, h, b));
  const Expr total_chunk = chunks.used(total_chunks);
  total(q, t, h, b) = op.n.sinks ? exp2_nonpositive(sink - maximum(q, t, h, b)) : Expr(0.0f);
  total(q, t, h, b) += chunk_weight(q, total_chunk, t, h, b) * chunk_total(q, total_chunk, t, h, b);
  merged(d, q, t, h, b) += chunk_weight(q, merged_chunk, t, h, b) * sum(d, q, merged_chunk, t, h, b);
}

void blocked_attention::define_outputs() {
  const Expr row = q % cut.query_tile, tile = q / cut.query_tile;
  if (!normalises()) {
    output(d, q, h, b) = merged(d, row, tile, h, b);
    return;
  }
  const Expr of_row = maximum(row, tile, h, b), sum_of_row = total(row, tile, h, b);
  inverse_total(q, t, h, b) = inverse_or_zero(maximum(q, t, h, b), total(q, t, h, b));
  const Expr inverse = inverse_total(row, tile, h, b);
  output(d, q, h, b) = select(reinterpret<int>(inverse) == 0, 0.0f, merged(d, row, tile, h, b) * inverse); // as bits: to fast-math a NaN equals 0
  lse(q, h, b) = log_sum_exp(of_row, sum_of_row);
}

} // namespace attune

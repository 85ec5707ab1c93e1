#include "dsl/pipeline/gpu_attention.hpp"
#include "dsl/pipeline/gpu_element.hpp"
#include <limits>

namespace attune {
using namespace Halide;
using Internal::make_const;

namespace {

constexpr float log2_of_e = 1.4426950408889634f, ln_of_2 = 0.6931471805599453f;
/// Scores below this count as this: rows whose scores are all hugely negative still average equally.
constexpr float lowest_score = -9e29f;
/// What stands for a masked score: -FLT_MAX, below every score that is let through. Compared by its bits.
constexpr std::uint32_t masked_bits = 0xff7fffffu, minus_infinity_bits = 0xff800000u;

Expr bits_of(Expr value) { return reinterpret<std::uint32_t>(value); }
Expr float_of(Expr bits) { return reinterpret<float>(bits); }
Expr all_ones_if(Expr condition) { return select(condition, make_const(UInt(32), 0xffffffffu), make_const(UInt(32), 0)); }

/// `value` where the condition holds, else `otherwise`. By bits: a NaN that is not chosen has no effect, and bounds inference
/// does not narrow the region of a Func that stands in `value`, as it does for select.
Expr choose_bits(Expr condition, Expr value, std::uint32_t otherwise) {
  Expr keep = all_ones_if(condition);
  return float_of((bits_of(value) & keep) | (make_const(UInt(32), otherwise) & ~keep));
}

Expr exp2_on(device_kind device, Expr x) {
  const char *name = device == device_kind::cuda ? "llvm.nvvm.ex2.approx.ftz.f" : "exp2";
  return Internal::Call::make(Float(32), name, {x}, Internal::Call::PureExtern);
}

Expr number_of(const setting &s, Expr at_call) { return s.kind == setting::at_call ? at_call : Expr(static_cast<float>(s.value)); }

ImageParam tensor(const char *name, element_type e, int rank) { return ImageParam(stored_type(e), rank, name); }

/// An extent that is not defined is free.
void constrain(OutputImageParam buffer, int innermost, int heads, Expr length, Expr batches) {
  buffer.dim(0).set_bounds(0, innermost);
  buffer.dim(1).set_bounds(0, length);
  buffer.dim(2).set_bounds(0, heads);
  buffer.dim(3).set_bounds(0, batches);
}

/// An index that bounds inference can follow: positions of a tile's overhang read the last element.
Expr within(Expr index, Expr extent) { return clamp(index, 0, extent - 1); }

} // namespace

gpu_attention::gpu_attention(const operator_description &op, const target_info &target, const gpu_tile &t) : tile(t) {
  read_arguments(op);
  stage_tiles(op, target);
  scores(op);
  softmax_and_sum(op, target);
  results_of_state(op, target);
  trim_steps(op);
}

std::vector<Func> gpu_attention::results() const {
  return lse.defined() ? std::vector<Func>{output, lse} : std::vector<Func>{output};
}

void gpu_attention::read_arguments(const operator_description &op) {
  const numbers &n = op.n;
  query = tensor("query", n.element, 4), key = tensor("key", n.element, 4), value = tensor("value", n.element, 4);
  queries = query.dim(1).extent(), keys = key.dim(1).extent(), batches = query.dim(3).extent();
  constrain(query, n.head_dim, n.heads, {}, {});
  constrain(key, n.head_dim, n.kv_heads, {}, batches);
  constrain(value, n.value_dim, n.kv_heads, keys, batches);
  arguments = {query, key, value};
  for (const input_declaration &d : op.inputs) {
    inputs.push_back(tensor(d.name, d.element, d.rank));
    for (int i = 0; i < d.rank; ++i) {
      inputs.back().dim(i).set_min(0);
      const int extent = extent_of(n, d.axes[d.rank - 1 - i]);
      if (extent != dynamic_extent) inputs.back().dim(i).set_extent(extent);
    }
    if (d.rank > 0) inputs.back().dim(0).set_stride(Expr());
    arguments.push_back(inputs.back());
  }
  if (n.key_lengths) {
    key_lengths = tensor("key_lengths", element_type::i32, 1);
    key_lengths.dim(0).set_min(0);
    arguments.push_back(key_lengths);
  }
  if (n.scale.kind == setting::at_call) arguments.push_back(scale_at_call);
  if (n.softcap.kind == setting::at_call) arguments.push_back(softcap_at_call);
  if (n.window.kind == setting::at_call) arguments.push_back(window_at_call);

  scale = number_of(n.scale, scale_at_call);
  softcap = number_of(n.softcap, softcap_at_call);
  const bool same_index = n.causal == causal_alignment::top_left || n.causal == causal_alignment::diagonal || n.same_extents;
  shift = same_index ? Expr(0) : keys - queries;
  const std::int32_t largest_window = 1 << 30;
  window = n.window.kind == setting::at_call ? clamp(window_at_call, 0, largest_window)
                                             : Expr(static_cast<std::int32_t>(std::min<double>(n.window.value, largest_window)));
}

void gpu_attention::stage_tiles(const operator_description &op, const target_info &target) {
  const numbers &n = op.n;
  const int group = n.heads / n.kv_heads, columns = tile.columns(), rows = tile.rows();
  const auto staged = [&](const ImageParam &from, int extent, int padded, Expr position, Expr of_head) {
    Expr stored = from(padded == extent ? Expr(dim) : min(dim, extent - 1), position, of_head, batch);
    Expr loaded = gpu_load_f32(stored, n.element, target.device);
    return padded == extent ? loaded : choose_bits(dim < extent, loaded, 0);
  };
  Expr last_key = n.key_lengths ? min(keys, key_lengths(batch)) - 1 : keys - 1;
  Expr key_position = clamp(min(step * tile.keys + tile_row, last_key), 0, keys - 1);
  query_tile(dim, tile_row, block, head, batch) = staged(query, n.head_dim, tile.padded_head_dim, within(block * tile.queries + tile_row, queries), head);
  key_tile(dim, tile_row, step, head, batch) = staged(key, n.head_dim, tile.padded_head_dim, key_position, head / group);
  value_tile(dim, tile_row, step, head, batch) = staged(value, n.value_dim, tile.padded_value_dim(), key_position, head / group);

  query_fragment(dim, query_row, y, block, head, batch) = query_tile(dim, query_row * rows + y, block, head, batch);
  key_fragment(dim, key_column, x, step, head, batch) = key_tile(dim, key_column * columns + x, step, head, batch);
  value_fragment(lane, lane_group, x, tile_row, step, head, batch) =
      value_tile(lane + gpu_value_lanes * (x + columns * lane_group), tile_row, step, head, batch);

  head_dims = RDom(0, tile.padded_head_dim, "head_dims");
  dot(key_column, query_row, x, y, step, block, head, batch) = 0.f;
  dot(key_column, query_row, x, y, step, block, head, batch) +=
      query_fragment(head_dims, query_row, y, block, head, batch) * key_fragment(head_dims, key_column, x, step, head, batch);
}

/// Scale, softcap, score functions, additive masks, masks: in this order. Natural units until the last step.
void gpu_attention::scores(const operator_description &op) {
  const numbers &n = op.n;
  const position_expr at{batch, head, block * tile.queries + query_row * tile.rows() + y, step * tile.keys + key_column * tile.columns() + x};
  const input_reader read = [&](int i, const std::vector<Expr> &indices) {
    const int rank = op.inputs[i].rank;
    std::vector<Expr> reversed;
    for (int a = rank - 1; a >= 0; --a) reversed.push_back(within(cast<std::int32_t>(indices[a]), inputs[i].dim(rank - 1 - a).extent()));
    Expr stored = inputs[i](reversed);
    return op.inputs[i].element == element_type::f16 ? detail::f16_to_f32_without_denormals(stored) : load_f32(stored, op.inputs[i].element);
  };
  const auto mask_value = [&](int i) {
    std::vector<Expr> indices;
    for (int a = 0; a < op.inputs[i].rank; ++a) switch (op.inputs[i].axes[a]) {
        case axis_name::batch: indices.push_back(at.batch); break;
        case axis_name::head: indices.push_back(at.head); break;
        case axis_name::kv_head: indices.push_back(at.head / (n.heads / n.kv_heads)); break;
        case axis_name::query: indices.push_back(at.query); break;
        default: indices.push_back(at.key); break;
      }
    return read(i, indices);
  };

  Expr allowed = at.key < (n.key_lengths ? min(keys, key_lengths(batch)) : keys);
  if (n.causal != causal_alignment::off) allowed = allowed && at.key <= at.query + shift;
  if (n.window.kind != setting::off) allowed = allowed && at.key >= at.query + shift - window;
  for (const mask_function &f : op.mask_functions) allowed = allowed && f(at, read);

  Expr raw = dot(key_column, query_row, x, y, step, block, head, batch);
  bool plain = n.softcap.kind == setting::off && op.score_functions.empty();
  Expr natural = plain ? raw : raw * scale;
  if (n.softcap.kind != setting::off) natural = softcap * tanh(natural / softcap);
  for (const score_function &f : op.score_functions) natural = f(natural, at, read);
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const int index = static_cast<int>(i);
    if (op.inputs[i].role == tensor_role::boolean_mask) allowed = allowed && mask_value(index) != 0;
    if (op.inputs[i].role != tensor_role::additive_mask) continue;
    if (plain) natural = natural * scale;
    plain = false;
    allowed = allowed && bits_of(mask_value(index)) != make_const(UInt(32), minus_infinity_bits);
    natural = natural + mask_value(index);
  }
  if (!plain) natural = choose_bits(!(natural < lowest_score), natural, Internal::reinterpret_bits<std::uint32_t>(lowest_score));
  Expr in_base_2 = natural * (plain ? scale * log2_of_e : Expr(log2_of_e));
  score(key_column, query_row, x, y, step, block, head, batch) = choose_bits(allowed, in_base_2, masked_bits);
}

void gpu_attention::softmax_and_sum(const operator_description &op, const target_info &target) {
  const int columns = tile.columns();
  const Expr masked = float_of(make_const(UInt(32), masked_bits));
  thread_key_columns = RDom(0, tile.thread_keys, "thread_key_columns");
  thread_columns = RDom(0, columns, "thread_columns");
  block_keys = RDom(0, columns, 0, tile.thread_keys, "block_keys");

  thread_max(x, query_row, y, step, block, head, batch) = masked;
  Expr own = thread_max(x, query_row, y, step, block, head, batch);
  thread_max(x, query_row, y, step, block, head, batch) = max(own, score(thread_key_columns, query_row, x, y, step, block, head, batch));
  block_max(query_row, y, step, block, head, batch) = masked;
  Expr rows_max = block_max(query_row, y, step, block, head, batch);
  block_max(query_row, y, step, block, head, batch) = max(rows_max, thread_max(thread_columns, query_row, y, step, block, head, batch));

  // A masked key weighs exactly zero, whatever the maximum is: the sum of a row is zero only if the mask left it no key. Under
  // masked_values<anything> the zero is -0, a mark by which the weighted sum knows that it must not look at V.
  const bool any_value = op.n.masked_values == masked_value_policy::anything;
  Expr s = score(key_column, query_row, x, y, step, block, head, batch);
  weight(x, key_column, query_row, y, step, block, head, batch) =
      choose_bits(bits_of(s) != make_const(UInt(32), masked_bits), exp2_on(target.device, s - rows_max), any_value ? 0x80000000u : 0u);
  block_sum(query_row, y, step, block, head, batch) = 0.f;
  block_sum(query_row, y, step, block, head, batch) += weight(block_keys.x, block_keys.y, query_row, y, step, block, head, batch);

  weight_fragment(x, key_column, query_row, y, step, block, head, batch) = weight(x, key_column, query_row, y, step, block, head, batch);
  Expr w = weight_fragment(block_keys.x, block_keys.y, query_row, y, step, block, head, batch);
  Expr v = value_fragment(feature % gpu_value_lanes, feature / gpu_value_lanes, x, block_keys.y * columns + block_keys.x, step, head, batch);
  if (any_value) v = float_of(bits_of(v) & all_ones_if(bits_of(w) != make_const(UInt(32), 0x80000000u)));
  block_output(feature, query_row, x, y, step, block, head, batch) = 0.f;
  block_output(feature, query_row, x, y, step, block, head, batch) += w * v;

  steps = RDom(0, (keys + tile.keys - 1) / tile.keys, "steps");
  std::vector<Expr> initial{masked, 0.f}, updated;
  for (int f = 0; f < tile.thread_values; ++f) initial.push_back(0.f);
  state(query_row, x, y, block, head, batch) = Tuple(initial);
  const Tuple old = state(query_row, x, y, block, head, batch);
  Expr of_block = block_max(query_row, y, steps, block, head, batch);
  // Every new value reads old[0] more than once, so each is lifted out of the update: Halide 21 stores a Tuple's elements one
  // after the other when an old value stands inside a call only.
  Expr maximum = max(old[0], of_block);
  Expr old_factor = exp2_on(target.device, old[0] - maximum), block_factor = exp2_on(target.device, of_block - maximum);
  updated = {maximum, old[1] * old_factor + block_sum(query_row, y, steps, block, head, batch) * block_factor};
  for (int f = 0; f < tile.thread_values; ++f)
    updated.push_back(old[2 + f] * old_factor + block_output(f, query_row, x, y, steps, block, head, batch) * block_factor);
  state(query_row, x, y, block, head, batch) = Tuple(updated);
}

void gpu_attention::results_of_state(const operator_description &op, const target_info &) {
  const numbers &n = op.n;
  const int columns = tile.columns(), rows = tile.rows();
  Expr in_tile = row % tile.queries;
  const Tuple s = state(in_tile / rows, (dim / gpu_value_lanes) % columns, in_tile % rows, row / tile.queries, head, batch);
  std::vector<Expr> features;
  for (int f = 0; f < tile.thread_values; ++f) features.push_back(s[2 + f]);
  Expr sum = mux(dim % gpu_value_lanes + gpu_value_lanes * (dim / (gpu_value_lanes * columns)), features);
  Expr is_empty = bits_of(s[1]) == make_const(UInt(32), 0);
  Expr normal = choose_bits(!is_empty, sum / s[1], 0);
  // Never taken: a sum of weights is not negative. It keeps the query tile's memory alive through the loop over key blocks,
  // whose back edge Halide 21 ignores when it lets Funcs share memory.
  normal = select(s[1] < 0.f, query_tile(dim % tile.padded_head_dim, in_tile, row / tile.queries, head, batch), normal);
  output(dim, row, head, batch) = gpu_store_as(normal, n.element);
  constrain(output.output_buffer(), n.value_dim, n.heads, queries, batches);
  if (!n.returns_lse) return;

  const Tuple of_row = state(in_tile / rows, 0, in_tile % rows, row / tile.queries, head, batch);
  lse(row, head, batch) = choose_bits(bits_of(of_row[1]) != make_const(UInt(32), 0), of_row[0] * ln_of_2 + log(of_row[1]), minus_infinity_bits);
  OutputImageParam buffer = lse.output_buffer();
  buffer.dim(0).set_bounds(0, queries);
  buffer.dim(1).set_bounds(0, n.heads);
  buffer.dim(2).set_bounds(0, batches);
}

void gpu_attention::trim_steps(const operator_description &op) {
  const numbers &n = op.n;
  Expr first_query = Internal::Variable::make(Int(32), gpu_query_block_name) * tile.queries;
  Expr last_query = min(first_query + tile.queries, queries) - 1;
  Expr first_key = 0, end_key = keys;
  if (n.key_lengths) end_key = min(end_key, Internal::Variable::make(Int(32), gpu_key_length_name));
  if (n.causal != causal_alignment::off) end_key = min(end_key, last_query + shift + 1);
  if (n.window.kind != setting::off) first_key = max(first_key, first_query + shift - window);
  first_step = first_key / tile.keys;
  end_step = (max(end_key, 0) + tile.keys - 1) / tile.keys;
}

} // namespace attune

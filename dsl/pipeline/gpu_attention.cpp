#include "dsl/pipeline/gpu_attention.hpp"
#include "dsl/pipeline/gpu_element.hpp"
#include "dsl/pipeline/rotary.hpp"
#include "dsl/pipeline/scores.hpp"
#include "dsl/pipeline/softmax.hpp"
#include "dsl/pipeline/tile_classifier.hpp"

namespace attune {
using namespace Halide;

namespace {

constexpr float ln_of_2 = 0.6931471805599453f;
/// What stands for a masked score: -FLT_MAX, below every score that is let through. Compared by its bits.
constexpr std::uint32_t masked_bits = 0xff7fffffu, minus_infinity_bits = 0xff800000u, minus_zero_bits = 0x80000000u;

Expr bits_of(Expr value) { return reinterpret<std::uint32_t>(value); }
Expr float_of(Expr bits) { return reinterpret<float>(bits); }
Expr has_bits(Expr value, std::uint32_t bits) { return bits_of(value) == detail::u32(bits); }
Expr all_ones_if(Expr condition) { return select(condition, detail::u32(0xffffffffu), detail::u32(0)); }

/// `value` where the condition holds, else `otherwise`. By bits: a NaN that is not chosen has no effect, and bounds inference
/// does not narrow the region of a Func that stands in `value`, as it does for select.
Expr choose_bits(Expr condition, Expr value, std::uint32_t otherwise) {
  Expr keep = all_ones_if(condition);
  return float_of((bits_of(value) & keep) | (detail::u32(otherwise) & ~keep));
}

Expr exp2_on(device_kind device, Expr x) {
  const char *name = device == device_kind::cuda ? "llvm.nvvm.ex2.approx.ftz.f" : "exp2";
  return Internal::Call::make(Float(32), name, {x}, Internal::Call::PureExtern);
}

/// An extent that is not defined is free.
void constrain(OutputImageParam buffer, int innermost, int heads, Expr length, Expr batches) {
  buffer.dim(0).set_bounds(0, innermost);
  buffer.dim(1).set_bounds(0, length);
  buffer.dim(2).set_bounds(0, heads);
  buffer.dim(3).set_bounds(0, batches);
}

/// The maximum and the sum of a row before its first key: those of the head's sink, where it has one.
std::vector<Expr> state_of_no_key(const operator_description &op, const call_arguments &args, const Expr &head) {
  const Expr masked = float_of(detail::u32(masked_bits));
  if (!op.n.sinks) return {masked, 0.f};
  const Expr sink = sink_score(op, args, head), is_none = bits_of(sink) == bits_of(no_score);
  return {select(is_none, masked, sink), select(is_none, 0.f, keep_nan(sink, 1.f))};
}

/// Whether a Func stands in an expression.
class find_func : public Internal::IRGraphVisitor {
public:
  using IRGraphVisitor::visit;
  void visit(const Internal::Call *op) override {
    found = found || op->call_type == Internal::Call::Halide;
    IRGraphVisitor::visit(op);
  }
  bool found = false;
};

} // namespace

gpu_attention::gpu_attention(const operator_description &op, const target_info &target, const gpu_tile &t)
    : tile(t), arguments(op), normalises(op.n.weights == weighting::softmax) {
  constrain_buffers(op);
  stage_tiles(op, target);
  scores(op);
  if (normalises) maximum_of_block();
  weights_of_block(op, target);
  weighted_sum(op);
  running_state(op, target);
  results_of_state(op);
}

Expr key_steps::around(Expr value) const {
  const Type type = value.type();
  return Internal::Call::make(type, call, {std::move(value), first, end, is_empty}, Internal::Call::PureExtern);
}

std::vector<Func> gpu_attention::results() const {
  return lse.defined() ? std::vector<Func>{output, lse} : std::vector<Func>{output};
}

void gpu_attention::constrain_buffers(const operator_description &op) {
  const numbers &n = op.n;
  const Expr batches = arguments.query.dim(3).extent();
  constrain(arguments.query, n.head_dim, n.heads, {}, {});
  if (is_paged(n)) {
    constrain(arguments.key, n.head_dim, n.kv_heads, n.cache.page_size, {});
    constrain(arguments.value, n.value_dim, n.kv_heads, n.cache.page_size, arguments.key.dim(3).extent());
    return;
  }
  constrain(arguments.key, n.head_dim, n.kv_heads, {}, batches);
  constrain(arguments.value, n.value_dim, n.kv_heads, arguments.key_count, batches);
}

attention_source gpu_attention::source_of(const operator_description &op, const target_info &target) {
  attention_source source = operand_source(arguments);
  if (op.n.rope.dims == 0) return source;
  const element_conversion on_device{[device = target.device](const Expr &stored, element_type e) { return gpu_load_f32(stored, e, device); }, gpu_store_as};
  rotary_source r(op, arguments, source, on_device);
  angles = r.angles, turns = r.turns;
  return r.rotated;
}

/// Tiles in f32, padded with zeros to whole register fragments. Queries come scaled, keys and values with the scales that they are
/// stored with: once for all queries of the tile. A tile's overhang reads the last element.
void gpu_attention::stage_tiles(const operator_description &op, const target_info &target) {
  const numbers &n = op.n;
  const int group = n.heads / n.kv_heads, columns = tile.columns(), rows = tile.rows();
  const attention_source source = source_of(op, target);
  const auto staged = [&](const Func &from, element_type e, int extent, int padded, const Expr &position, const Expr &of_head, const Expr &factor) {
    Expr loaded = gpu_load_f32(from(padded == extent ? Expr(dim) : min(dim, extent - 1), position, of_head, batch), e, target.device);
    if (factor.defined()) loaded = loaded * factor;
    return padded == extent ? loaded : choose_bits(dim < extent, loaded, 0);
  };
  const Expr query_position = clamp(block * tile.queries + tile_row, 0, arguments.query_count - 1);
  query_tile(dim, tile_row, block, head, batch) = staged(source.query, n.element, n.head_dim, tile.padded_head_dim, query_position, head, query_factor(op, arguments));
  const Expr key_position = clamp(min(step * tile.keys + tile_row, key_count_of(op, arguments, batch) - 1), 0, arguments.key_count - 1), kv_head = head / group;
  const auto scale = [&](const ImageParam &scales) { return n.cache.scale == kv_scaling::off ? Expr() : arguments.scale_of(scales, key_position, kv_head, batch); };
  key_tile(dim, tile_row, step, head, batch) = staged(source.key, cache_element(n), n.head_dim, tile.padded_head_dim, key_position, kv_head, scale(arguments.key_scale));
  value_tile(dim, tile_row, step, head, batch) = staged(source.value, cache_element(n), n.value_dim, tile.padded_value_dim(), key_position, kv_head, scale(arguments.value_scale));

  query_fragment(dim, query_row, y, block, head, batch) = query_tile(dim, query_row * rows + y, block, head, batch);
  key_fragment(dim, key_column, x, step, head, batch) = key_tile(dim, key_column * columns + x, step, head, batch);
  value_fragment(lane, lane_group, x, tile_row, step, head, batch) =
      value_tile(lane + gpu_value_lanes * (x + columns * lane_group), tile_row, step, head, batch);

  head_dims = RDom(0, tile.padded_head_dim, "head_dims");
  dot(key_column, query_row, x, y, step, block, head, batch) = 0.f;
  dot(key_column, query_row, x, y, step, block, head, batch) +=
      query_fragment(head_dims, query_row, y, block, head, batch) * key_fragment(head_dims, key_column, x, step, head, batch);
}

void gpu_attention::scores(const operator_description &op) {
  const position_expr at{batch, head, block * tile.queries + query_row * tile.rows() + y, step * tile.keys + key_column * tile.columns() + x};
  const Expr in_base_2 = base2_score(op, arguments, dot(key_column, query_row, x, y, step, block, head, batch), at);
  score(key_column, query_row, x, y, step, block, head, batch) = choose_bits(allowed(op, arguments, at), in_base_2, masked_bits);
}

void gpu_attention::maximum_of_block() {
  const Expr masked = float_of(detail::u32(masked_bits));
  thread_key_columns = RDom(0, tile.thread_keys, "thread_key_columns");
  thread_columns = RDom(0, tile.columns(), "thread_columns");
  thread_max(x, query_row, y, step, block, head, batch) = masked;
  const Expr so_far = thread_max(x, query_row, y, step, block, head, batch);
  thread_max(x, query_row, y, step, block, head, batch) = max(so_far, score(thread_key_columns, query_row, x, y, step, block, head, batch));
  block_max(query_row, y, step, block, head, batch) = masked;
  const Expr maximum = block_max(query_row, y, step, block, head, batch);
  block_max(query_row, y, step, block, head, batch) = max(maximum, thread_max(thread_columns, query_row, y, step, block, head, batch));
}

/// A masked key weighs exactly zero, whatever the maximum is: a row sums to zero only if the mask left it no key. Under
/// masked_values<anything> that zero is -0, a mark by which the weighted sum knows not to look at V.
void gpu_attention::weights_of_block(const operator_description &op, const target_info &target) {
  const auto exp2 = [&](const Expr &e) { return exp2_on(target.device, e); };
  const Expr s = score(key_column, query_row, x, y, step, block, head, batch);
  const Expr of_score = normalises ? exp2(s - block_max(query_row, y, step, block, head, batch)) : sigmoid_by(exp2, s);
  const std::uint32_t zero = op.n.masked_values == masked_value_policy::anything ? minus_zero_bits : 0;
  weight(x, key_column, query_row, y, step, block, head, batch) = choose_bits(!has_bits(s, masked_bits), of_score, zero);
  block_keys = RDom(0, tile.columns(), 0, tile.thread_keys, "block_keys");
  if (!normalises) return;
  block_sum(query_row, y, step, block, head, batch) = 0.f;
  block_sum(query_row, y, step, block, head, batch) += weight(block_keys.x, block_keys.y, query_row, y, step, block, head, batch);
}

void gpu_attention::weighted_sum(const operator_description &op) {
  weight_fragment(x, key_column, query_row, y, step, block, head, batch) = weight(x, key_column, query_row, y, step, block, head, batch);
  const Expr w = weight_fragment(block_keys.x, block_keys.y, query_row, y, step, block, head, batch);
  const Expr key_row = block_keys.y * tile.columns() + block_keys.x;
  Expr v = value_fragment(feature % gpu_value_lanes, feature / gpu_value_lanes, x, key_row, step, head, batch);
  if (op.n.masked_values == masked_value_policy::anything) v = choose_bits(!has_bits(w, minus_zero_bits), v, 0);
  block_output(feature, query_row, x, y, step, block, head, batch) = 0.f;
  block_output(feature, query_row, x, y, step, block, head, batch) += w * v;
}

key_steps gpu_attention::needed_steps(const operator_description &op) const {
  const Expr last = arguments.query_count - 1, first_query = min(block * tile.queries, last), last_query = min(block * tile.queries + (tile.queries - 1), last);
  const key_limits limits = limits_of(op, arguments, first_query, last_query, batch);
  key_steps needed{limits.begin / tile.keys, (limits.end + (tile.keys - 1)) / tile.keys, 0};
  if (op.mask_functions.empty()) return needed;
  const tile_classifier classify(op, arguments, tile.queries, tile.keys);
  const Expr is_empty = classify(block, steps, head, batch) == static_cast<int>(empty_tile);
  find_func ranges; // which nobody computes here
  is_empty.accept(&ranges);
  if (!ranges.found) needed.is_empty = cast<int>(is_empty);
  return needed;
}

void gpu_attention::running_state(const operator_description &op, const target_info &target) {
  steps = RDom(0, (arguments.key_count + tile.keys - 1) / tile.keys, "steps");
  const key_steps needed = needed_steps(op);
  const auto output_of_block = [&](int f) { return Expr(block_output(f, query_row, x, y, steps, block, head, batch)); };
  std::vector<Expr> initial, updated;
  if (normalises) initial = state_of_no_key(op, arguments, head);
  for (int f = 0; f < tile.thread_values; ++f) initial.push_back(0.f);
  state(query_row, x, y, block, head, batch) = Tuple(initial);
  const Tuple old = state(query_row, x, y, block, head, batch);
  if (!normalises) {
    for (int f = 0; f < tile.thread_values; ++f) updated.push_back(old[f] + (f == 0 ? needed.around(output_of_block(f)) : output_of_block(f)));
    state(query_row, x, y, block, head, batch) = Tuple(updated);
    return;
  }

  // Old values that stand inside a call appear in several elements, so that each is read into a let before the first element is
  // stored: Halide 21 stores a Tuple's elements one after the other where an old value stands in one call only.
  const Expr of_block = needed.around(block_max(query_row, y, steps, block, head, batch)), maximum = max(old[0], of_block);
  const Expr old_factor = exp2_on(target.device, old[0] - maximum), block_factor = exp2_on(target.device, of_block - maximum);
  updated = {maximum, old[1] * old_factor + block_sum(query_row, y, steps, block, head, batch) * block_factor};
  for (int f = 0; f < tile.thread_values; ++f) updated.push_back(old[2 + f] * old_factor + output_of_block(f) * block_factor);
  state(query_row, x, y, block, head, batch) = Tuple(updated);
}

void gpu_attention::results_of_state(const operator_description &op) {
  const int columns = tile.columns(), rows = tile.rows();
  const Expr in_tile = row % tile.queries;
  const Tuple s = state(in_tile / rows, (dim / gpu_value_lanes) % columns, in_tile % rows, row / tile.queries, head, batch);
  std::vector<Expr> features;
  for (int f = 0; f < tile.thread_values; ++f) features.push_back(s[(normalises ? 2 : 0) + f]);
  const Expr sum = mux(dim % gpu_value_lanes + gpu_value_lanes * (dim / (gpu_value_lanes * columns)), features);
  const Expr result = normalises ? choose_bits(!has_bits(s[1], 0), sum / s[1], 0) : sum;
  // No bits at all, which only LLVM knows: they keep the query tile's memory alive through the loop over key blocks, whose back edge
  // Halide 21 ignores when it lets Funcs share memory.
  const Expr kept = bits_of(query_tile(dim % tile.padded_head_dim, in_tile, row / tile.queries, head, batch)), nothing = kept & ~kept;
  output(dim, row, head, batch) = gpu_store_as(float_of(bits_of(result) | nothing), op.n.element);
  const Expr batches = arguments.query.dim(3).extent();
  constrain(output.output_buffer(), op.n.value_dim, op.n.heads, arguments.query_count, batches);
  if (!op.n.returns_lse) return;

  const Tuple of_row = state(in_tile / rows, 0, in_tile % rows, row / tile.queries, head, batch);
  lse(row, head, batch) = choose_bits(!has_bits(of_row[1], 0), of_row[0] * ln_of_2 + log(of_row[1]), minus_infinity_bits);
  lse.output_buffer().dim(0).set_bounds(0, arguments.query_count);
  lse.output_buffer().dim(1).set_bounds(0, op.n.heads);
  lse.output_buffer().dim(2).set_bounds(0, batches);
}

} // namespace attune

#include "dsl/reference/reference.hpp"
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace attune {
namespace {

constexpr double lowest_additive_mask = -6e29;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Nearest value with `bits` significant bits, exponents from `lowest_exponent`, magnitudes up to `largest`.
template <int bits, int lowest_exponent> double round_binary(double x, double largest) {
  if (!std::isfinite(x)) return x;
  double rounded;
  if (std::abs(x) < std::ldexp(1.0, lowest_exponent)) {
    const double unit = std::ldexp(1.0, lowest_exponent - bits + 1);
    rounded = std::nearbyint(x / unit) * unit;
  } else {
    constexpr int dropped = 53 - bits;
    const std::uint64_t pattern = std::bit_cast<std::uint64_t>(x), half = std::uint64_t{1} << (dropped - 1);
    const std::uint64_t nearest = pattern + half - 1 + ((pattern >> dropped) & 1);
    rounded = std::bit_cast<double>(nearest & ~((std::uint64_t{1} << dropped) - 1));
  }
  return std::abs(rounded) > largest ? std::copysign(infinity, x) : rounded;
}

double number_of(const setting &s, double at_call) { return s.kind == setting::at_call ? at_call : s.value; }

double dot(const double *a, const double *b, std::int64_t count) {
  double sums[4] = {};
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// rows [row, feature in] through `map`, matrix rounded to `element`. A block of rows shares each pass over the matrix.
std::vector<double> apply(const linear_map &map, const std::vector<double> &rows, element_type element) {
  if (static_cast<std::int64_t>(map.matrix.size()) != map.inputs * map.outputs)
    throw std::invalid_argument("reference: a weight matrix does not have feature in x feature out values");
  const std::int64_t count = map.inputs == 0 ? 0 : static_cast<std::int64_t>(rows.size()) / map.inputs, block = 16;
  std::vector<double> result(count * map.outputs), weights(map.matrix.size());
  std::transform(map.matrix.begin(), map.matrix.end(), weights.begin(), [&](double w) { return round_to(element, w); });
  for (std::int64_t first = 0; first < count; first += block) {
    const std::int64_t last = std::min(first + block, count);
    for (std::int64_t i = 0; i < map.inputs; ++i) {
      const double *from = &weights[i * map.outputs];
      for (std::int64_t r = first; r < last; ++r) {
        const double x = rows[r * map.inputs + i];
        double *to = &result[r * map.outputs];
        for (std::int64_t o = 0; o < map.outputs; ++o) to[o] += x * from[o];
      }
    }
  }
  if (!map.bias.empty())
    for (std::int64_t r = 0; r < count; ++r)
      for (std::int64_t o = 0; o < map.outputs; ++o) result[r * map.outputs + o] += map.bias[o];
  return result;
}

/// source [batch, position, feature in] to [batch, head, position, dim], stored as `element`.
scalar_tensor project(const scalar_tensor &source, const linear_map *given, std::int64_t heads, std::int64_t dim, element_type element) {
  if (!given) throw std::invalid_argument("reference: a projection has no weights");
  const linear_map &map = *given;
  if (source.extents.size() != 3 || source.extents[2] != map.inputs || map.outputs != heads * dim)
    throw std::invalid_argument("reference: a projection does not fit its tensor");
  const std::int64_t batches = source.extents[0], positions = source.extents[1];
  const std::vector<double> flat = apply(map, source.values, element);
  scalar_tensor result({batches, heads, positions, dim});
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t p = 0; p < positions; ++p)
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t d = 0; d < dim; ++d)
          result.values[((b * heads + h) * positions + p) * dim + d] = round_to(element, flat[((b * positions + p) * heads + h) * dim + d]);
  return result;
}

/// Hidden states [batch, position, feature] with their positions added, rounded as they are stored.
scalar_tensor with_positions(scalar_tensor hidden, double theta, element_type element) {
  const std::int64_t positions = hidden.extents[1], features = hidden.extents[2];
  for (std::size_t i = 0; i < hidden.values.size(); ++i) {
    const std::int64_t feature = static_cast<std::int64_t>(i) % features, position = static_cast<std::int64_t>(i) / features % positions;
    const long double angle = position * std::pow(static_cast<long double>(theta), -2.0L * (feature / 2) / features);
    hidden.values[i] = round_to(element, hidden.values[i] + static_cast<double>(feature % 2 == 0 ? std::sin(angle) : std::cos(angle)));
  }
  return hidden;
}

struct operands {
  scalar_tensor query, key, value;
};

/// The keys or values of a cache, scaled, as [batch, kv_head, key, dim]. In pages, keys past a batch's length stay 0.
scalar_tensor from_cache(const reference_operator &op, const reference_arguments &a, const scalar_tensor &stored, const scalar_tensor &scale) {
  const cache_form &form = op.n.cache;
  if (stored.extents.size() != 4) throw std::invalid_argument("reference: query and key have four axes");
  const bool paged = form.page_size > 0;
  const std::int64_t batches = paged ? a.page_table.extents.at(0) : stored.extents[0], heads = stored.extents[1], dim = stored.extents[3];
  const std::int64_t keys = paged ? a.page_table.extents.at(1) * form.page_size : stored.extents[2];
  scalar_tensor all({batches, heads, keys, dim});
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t k = 0; k < (paged ? a.key_lengths.at(b) : keys); ++k)
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::int64_t outer = paged ? static_cast<std::int64_t>(a.page_table({b, k / form.page_size})) : b, place = paged ? k % form.page_size : k;
        const double factor = form.scale == kv_scaling::off ? 1 : form.scale == kv_scaling::per_head ? scale({h}) : scale({outer, h, place});
        for (std::int64_t d = 0; d < dim; ++d) all({b, h, k, d}) = factor * stored({outer, h, place, d});
      }
  return all;
}

operands operands_of(const reference_operator &op, const reference_arguments &a) {
  const numbers &n = op.n;
  if (n.source == source_kind::operands && n.cache.scale == kv_scaling::off && !is_paged(n)) return {a.query, a.key, a.value};
  if (n.source == source_kind::operands) return {a.query, from_cache(op, a, a.key, a.key_scale), from_cache(op, a, a.value, a.value_scale)};
  const scalar_tensor hidden = n.sinusoidal_theta > 0 ? with_positions(a.hidden, n.sinusoidal_theta, n.element) : a.hidden;
  const scalar_tensor &memory = n.source == source_kind::projection ? hidden : a.context;
  return {project(hidden, a.query_projection, n.heads, n.head_dim, n.element),
          project(memory, a.key_projection, n.kv_heads, n.head_dim, n.element),
          project(memory, a.value_projection, n.kv_heads, n.value_dim, n.element)};
}

/// Rows of `t` [batch, head, row, dim] turned: each by its position, to which the batch's offset comes.
template <class Position> void rotate(scalar_tensor &t, const Position &position_of, const numbers &n, const reference_arguments &a) {
  const rotary_embedding &r = n.rope;
  const std::int64_t heads = t.extents[1], rows = t.extents[2], dim = t.extents[3], pairs = r.dims / 2;
  for (std::int64_t i = 0; i < t.extents[0] * heads * rows; ++i) {
    const std::int64_t batch = i / (heads * rows), position = position_of(i % rows, batch) + (r.position_offsets ? a.position_offsets.at(batch) : 0);
    double *row = &t.values[i * dim];
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      const bool halves = r.pairing == rotary_pairing::half;
      double &first = row[halves ? pair : 2 * pair], &second = row[halves ? pair + pairs : 2 * pair + 1];
      double cosine, sine;
      if (r.angle_tables) {
        const std::int64_t place = std::clamp<std::int64_t>(position, 0, a.cos_table.extents[1] - 1);
        cosine = a.cos_table({batch, place, pair}), sine = a.sin_table({batch, place, pair});
      } else {
        const long double angle = position * std::pow(static_cast<long double>(r.theta), -2.0L * pair / r.dims);
        cosine = static_cast<double>(std::cos(angle)), sine = static_cast<double>(std::sin(angle));
      }
      const double turned = first * cosine - second * sine;
      second = round_to(n.element, second * cosine + first * sine);
      first = round_to(n.element, turned);
    }
  }
}

/// Everything that decides about one call, and the meaning of one score.
struct evaluation {
  const reference_operator &op;
  const reference_arguments &arguments;
  operands in;
  std::int64_t batches, queries, keys, group;
  double scale, softcap, window, window_right, sigmoid_bias;
  scalar_reader read;

  evaluation(const reference_operator &op_, const reference_arguments &a)
      : op(op_), arguments(a), in(operands_of(op_, a)), scale(number_of(op_.n.scale, a.scale)), softcap(number_of(op_.n.softcap, a.softcap)),
        window(number_of(op_.n.window, a.window)),
        window_right(number_of(op_.n.window_right, a.window_right)), sigmoid_bias(number_of(op_.n.sigmoid_bias, a.sigmoid_bias)) {
    const numbers &n = op.n;
    const auto expect = [](const scalar_tensor &t, std::vector<std::int64_t> extents, const char *name) {
      if (t.extents != extents) throw std::invalid_argument(std::string("reference: wrong extents of ") + name);
    };
    if (in.query.extents.size() != 4 || in.key.extents.size() != 4) throw std::invalid_argument("reference: query and key have four axes");
    batches = in.query.extents[0], queries = in.query.extents[2], keys = in.key.extents[2], group = n.heads / n.kv_heads;
    expect(in.query, {batches, n.heads, queries, n.head_dim}, "query");
    expect(in.key, {batches, n.kv_heads, keys, n.head_dim}, "key");
    expect(in.value, {batches, n.kv_heads, keys, n.value_dim}, "value");
    if (n.rope.dims > 0) rotate_operands();
    if (a.inputs.size() != op.inputs.size()) throw std::invalid_argument("reference: the spec declares " + std::to_string(op.inputs.size()) + " inputs");
    if (n.key_lengths && static_cast<std::int64_t>(a.key_lengths.size()) != batches) throw std::invalid_argument("reference: one key length per batch");
    read = [this](int input, const std::vector<std::int64_t> &indices) { return arguments.inputs.at(input)(indices); };
  }

  void rotate_operands() {
    rotate(in.query, [this](std::int64_t query, std::int64_t batch) { return place_of(query, batch).position; }, op.n, arguments);
    if (!op.n.rope.keys_rotated) rotate(in.key, [](std::int64_t key, std::int64_t) { return key; }, op.n, arguments);
  }

  std::int64_t index_of(axis_name axis, const position_index &at) const {
    switch (axis) {
      case axis_name::batch: return at.batch;
      case axis_name::head: return at.head;
      case axis_name::kv_head: return at.head / group;
      case axis_name::query: return at.query;
      case axis_name::key: return at.key;
      default: throw std::invalid_argument(std::string("reference: a mask has no axis ") + name_of(axis));
    }
  }
  double mask_value(std::size_t input, const position_index &at) const {
    std::vector<std::int64_t> indices;
    for (int a = 0; a < op.inputs[input].rank; ++a) indices.push_back(index_of(op.inputs[input].axes[a], at));
    return arguments.inputs[input](indices);
  }

  /// The keys [first, end) of a query's document, and the query's position among the call's keys.
  struct row_place {
    std::int64_t first, end, position;
  };
  row_place place_of(std::int64_t query, std::int64_t batch) const {
    const causal_alignment align = op.n.causal;
    const bool from_the_end = align == causal_alignment::bottom_right || align == causal_alignment::at_length || (align == causal_alignment::off && !op.n.same_extents);
    const int query_offsets = input_of(op.inputs, tensor_role::query_offsets), given = input_of(op.inputs, tensor_role::key_offsets);
    if (query_offsets < 0) {
      const std::int64_t last = align == causal_alignment::at_length ? arguments.key_lengths[batch] : keys;
      return {0, keys, query + (from_the_end ? last - queries : 0)};
    }
    const std::vector<double> &of_queries = arguments.inputs[query_offsets].values, &of_keys = arguments.inputs[given < 0 ? query_offsets : given].values;
    const auto whole = [](double x) { return static_cast<std::int64_t>(x); };
    for (std::size_t s = 0; s + 1 < of_queries.size(); ++s) {
      if (query < whole(of_queries[s]) || query >= whole(of_queries[s + 1])) continue;
      const std::int64_t first = whole(of_keys[s]), end = whole(of_keys[s + 1]), first_query = whole(of_queries[s]), end_query = whole(of_queries[s + 1]);
      return {first, end, first + (query - first_query) + (from_the_end ? (end - first) - (end_query - first_query) : 0)};
    }
    return {0, 0, 0}; // behind the last document
  }

  bool allowed(const position_index &at) const {
    const numbers &n = op.n;
    const row_place row = place_of(at.query, at.batch);
    if (at.key < row.first || at.key >= row.end) return false;
    const int prefix = input_of(op.inputs, tensor_role::prefix_lengths);
    const bool in_prefix = prefix >= 0 && static_cast<double>(at.key) < arguments.inputs[prefix].values[at.batch];
    const double distance = static_cast<double>(row.position) - static_cast<double>(at.key);
    if (n.causal != causal_alignment::off && distance < 0 && !in_prefix) return false;
    if (n.window.kind != setting::off && distance > window) return false;
    if (n.window_right.kind != setting::off && -distance > window_right) return false;
    if (n.key_lengths && at.key >= arguments.key_lengths[at.batch]) return false;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i].role == tensor_role::boolean_mask && mask_value(i, at) == 0) return false;
      if (op.inputs[i].role == tensor_role::additive_mask && mask_value(i, at) == -infinity) return false;
    }
    return std::all_of(op.mask_functions.begin(), op.mask_functions.end(), [&](const auto &f) { return f(at, read); });
  }

  /// A score on its way: after the scale, after the softcap, and as it becomes a weight where the masks allow it.
  struct score_steps {
    double scaled = 0, capped = 0, complete = 0;
  };
  score_steps score(const position_index &at) const {
    const std::int64_t dim = op.n.head_dim;
    const double *q = &in.query.values[((at.batch * op.n.heads + at.head) * queries + at.query) * dim];
    const double *k = &in.key.values[((at.batch * op.n.kv_heads + at.head / group) * keys + at.key) * dim];
    score_steps steps;
    double s = steps.scaled = dot(q, k, dim) * scale;
    if (op.n.softcap.kind != setting::off) s = softcap * std::tanh(s / softcap);
    steps.capped = s;
    for (const auto &f : op.score_functions) s = f(s, at, read);
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      if (op.inputs[i].role == tensor_role::additive_mask) s += std::max(mask_value(i, at), lowest_additive_mask);
    steps.complete = s;
    return steps;
  }

  /// One row of the scores that are returned.
  void return_scores(std::int64_t batch, std::int64_t head, std::int64_t query, reference_answer &answer) const {
    const std::int64_t row_index = (batch * op.n.heads + head) * queries + query, length = op.n.key_lengths ? arguments.key_lengths[batch] : keys;
    position_index at{batch, head, query, 0, head / group, place_of(query, batch).position, queries, keys};
    for (at.key = 0; at.key < keys; ++at.key) {
      const score_steps steps = at.key < length ? score(at) : score_steps{};
      const auto put = [&](bool returned, scalar_tensor &scores, double s) {
        if (!returned) return;
        scores.values[row_index * keys + at.key] = s;
        if (std::isfinite(s)) answer.largest_score = std::max(answer.largest_score, std::abs(s));
      };
      put(op.n.returns_scaled_scores, answer.scaled_scores, steps.scaled);
      put(op.n.returns_capped_scores, answer.capped_scores, steps.capped);
      put(op.n.returns_masked_scores, answer.masked_scores, allowed(at) ? steps.complete : -infinity);
    }
  }

  /// The scores of one row become weights. Softmax: exp(score) by the sum of them, the sink's included. Returns log-sum-exp.
  double softmax(std::vector<double> &scores, double sink) const {
    const double largest = std::max(sink, *std::max_element(scores.begin(), scores.end()));
    for (double &s : scores) s = std::exp(s - largest);
    const double total = std::accumulate(scores.begin(), scores.end(), std::exp(sink - largest));
    for (double &s : scores) s /= total;
    return largest + std::log(total);
  }
  void sigmoid(std::vector<double> &scores) const {
    for (double &s : scores) s = 1 / (1 + std::exp(-(s + sigmoid_bias)));
  }

  /// A head's sink, a score without a value: -inf where there is none.
  double sink(std::int64_t head) const {
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      if (op.inputs[i].role == tensor_role::sinks) return arguments.inputs[i]({head});
    return -infinity;
  }

  /// One row: weights of the allowed keys, then the weighted sum of their values.
  void row(std::int64_t batch, std::int64_t head, std::int64_t query, scalar_tensor &attended, reference_answer &answer) const {
    std::vector<std::int64_t> attended_keys;
    std::vector<double> weights;
    position_index at{batch, head, query, 0, head / group, place_of(query, batch).position, queries, keys};
    for (at.key = 0; at.key < keys; ++at.key)
      if (allowed(at)) {
        attended_keys.push_back(at.key);
        weights.push_back(score(at).complete);
      }
    const std::int64_t row_index = (batch * op.n.heads + head) * queries + query, dim = op.n.value_dim;
    if (attended_keys.empty()) {
      answer.has_empty_row = true;
      answer.lse.values[row_index] = sink(head);
      return;
    }
    if (op.n.weights == weighting::sigmoid) sigmoid(weights);
    else answer.lse.values[row_index] = softmax(weights, sink(head));
    answer.largest_total = std::max(answer.largest_total, std::accumulate(weights.begin(), weights.end(), 0.0));
    double *to = &attended.values[row_index * dim];
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double w = weights[i];
      if (op.n.returns_weights) answer.weights.values[row_index * keys + attended_keys[i]] = w;
      const double *v = &in.value.values[((batch * op.n.kv_heads + head / group) * keys + attended_keys[i]) * dim];
      for (std::int64_t d = 0; d < dim; ++d) to[d] += w * v[d];
    }
  }
};

/// attended [batch, head, query, value_dim], stored as the spec's element, through the output projection.
scalar_tensor project_out(const reference_operator &op, const linear_map *given, const scalar_tensor &attended) {
  if (!given) throw std::invalid_argument("reference: the output projection has no weights");
  const linear_map &map = *given;
  const std::int64_t batches = attended.extents[0], heads = attended.extents[1], queries = attended.extents[2], dim = attended.extents[3];
  if (map.inputs != heads * dim || map.outputs != op.n.output_dim) throw std::invalid_argument("reference: the output projection does not fit the heads");
  std::vector<double> rows(attended.values.size());
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t q = 0; q < queries; ++q)
        for (std::int64_t d = 0; d < dim; ++d)
          rows[((b * queries + q) * heads + h) * dim + d] = round_to(op.n.element, attended.values[((b * heads + h) * queries + q) * dim + d]);
  scalar_tensor result({batches, queries, map.outputs});
  result.values = apply(map, rows, op.n.element);
  return result;
}

} // namespace

double round_to(element_type element, double x) {
  const auto saturated = [x](double rounded, double largest) { return std::isinf(rounded) ? std::copysign(largest, x) : rounded; };
  switch (element) {
    case element_type::e4m3: return saturated(round_binary<4, -6>(x, 448.0), 448.0);
    case element_type::e5m2: return saturated(round_binary<3, -14>(x, 57344.0), 57344.0);
    case element_type::int8: return std::clamp(std::nearbyint(x), -127.0, 127.0);
    case element_type::f16: return round_binary<11, -14>(x, 65504.0);
    case element_type::bf16: return round_binary<8, -126>(x, 0x1.fep127);
    default: return static_cast<float>(x);
  }
}

scalar_tensor::scalar_tensor(std::vector<std::int64_t> extents_, double fill)
    : extents(std::move(extents_)), values(std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>()), fill) {}

std::int64_t scalar_tensor::offset_of(const std::vector<std::int64_t> &indices) const {
  if (indices.size() != extents.size()) throw std::invalid_argument("reference: a tensor is read with the wrong number of indices");
  std::int64_t offset = 0;
  for (std::size_t a = 0; a < extents.size(); ++a) {
    if (indices[a] < 0 || indices[a] >= extents[a]) throw std::out_of_range("reference: a tensor is read outside its extents");
    offset = offset * extents[a] + indices[a];
  }
  return offset;
}

reference_answer evaluate_reference(const reference_operator &op, const reference_arguments &arguments) {
  const evaluation e(op, arguments);
  reference_answer answer;
  answer.lse = scalar_tensor({e.batches, op.n.heads, e.queries});
  const scalar_tensor no_scores(returns_scores(op.n) || op.n.returns_weights ? std::vector<std::int64_t>{e.batches, op.n.heads, e.queries, e.keys} : std::vector<std::int64_t>{});
  if (op.n.returns_weights) answer.weights = no_scores;
  if (op.n.returns_scaled_scores) answer.scaled_scores = no_scores;
  if (op.n.returns_capped_scores) answer.capped_scores = no_scores;
  if (op.n.returns_masked_scores) answer.masked_scores = no_scores;
  for (double v : e.in.value.values)
    if (std::isfinite(v)) answer.largest_value = std::max(answer.largest_value, std::abs(v));
  scalar_tensor attended({e.batches, op.n.heads, e.queries, op.n.value_dim});
  for (std::int64_t b = 0; b < e.batches; ++b)
    for (std::int64_t h = 0; h < op.n.heads; ++h)
      for (std::int64_t q = 0; q < e.queries; ++q) {
        e.row(b, h, q, attended, answer);
        if (returns_scores(op.n)) e.return_scores(b, h, q, answer);
      }
  answer.output = op.n.output_dim > 0 ? project_out(op, arguments.output_projection, attended) : std::move(attended);
  return answer;
}

} // namespace attune

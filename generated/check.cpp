#include "generated/check.hpp"
#include "generated/check_cache.hpp"
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace attune {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Offsets of positions reach far where angles are computed, and stay small where the call gives tables.
constexpr int most_offset = 131'072, most_offset_in_tables = 7;

std::int64_t extent_in(const numbers &n, const check_case &how, const axis_extent &axis) {
  const std::int64_t pages = is_paged(n) ? (how.keys + n.cache.page_size - 1) / n.cache.page_size : 0;
  switch (axis.axis) {
    case axis_name::batch: return how.batch;
    case axis_name::query: return how.queries;
    case axis_name::key: return is_paged(n) ? pages * n.cache.page_size : how.keys;
    case axis_name::sequence_page: return pages;
    case axis_name::query_block: return (how.queries + n.query_block - 1) / n.query_block;
    case axis_name::key_block: return (how.keys + n.key_block - 1) / n.key_block;
    case axis_name::offset: return 5;
    case axis_name::page: return how.batch * pages + 2; // some that no batch has
    case axis_name::position: return std::max(how.queries, how.keys) + most_offset_in_tables;
    default: return axis.extent;
  }
}

std::vector<std::int64_t> extents_in(const numbers &n, const check_case &how, const tensor_shape &shape) {
  std::vector<std::int64_t> extents;
  for (int a = 0; a < shape.rank; ++a) extents.push_back(extent_in(n, how, shape.axes[a]));
  return extents;
}

/// Offsets of four documents, some of which may be empty, that hold all tokens but for at most one in eight.
void fill_offsets(check_tensor &t, std::int64_t tokens, std::uint64_t seed) {
  std::vector<double> offsets{0};
  for (std::uint64_t i = 0; i < 3; ++i) offsets.push_back(std::floor(uniform_value(seed, i) * static_cast<double>(tokens)));
  offsets.push_back(static_cast<double>(tokens - (seed % 3 == 0 ? tokens / 8 : 0)));
  std::sort(offsets.begin(), offsets.end());
  t.fill([&](auto n) { return std::min(offsets[n], offsets.back()); });
}

/// Documents of 37 tokens; slopes small enough that products with distances stay exact within the bounds.
bool fill_known(check_tensor &t, const check_case &how, std::uint64_t seed) {
  const std::string_view name = t.shape().name;
  if (t.shape().role == tensor_role::query_offsets) fill_offsets(t, how.queries, how.seed);
  else if (t.shape().role == tensor_role::key_offsets) fill_offsets(t, how.keys, how.seed + 1);
  else if (t.shape().role == tensor_role::prefix_lengths) t.fill([&](auto n) { return std::floor(uniform_value(seed, n) * (how.keys + 1)); });
  else if (name == "documents" || name == "query_documents" || name == "key_documents") t.for_each([&](const auto &at) { t.set(at, static_cast<double>(at[1] / 37 % 4)); });
  else if (name == "alibi_slopes") t.fill([&](auto n) { return uniform_value(seed, n) / 64; });
  else return false;
  return true;
}

void fill_input(check_tensor &t, std::uint64_t seed) {
  const bool additive = t.shape().role == tensor_role::additive_mask;
  switch (t.shape().element) {
    case element_type::boolean: return t.fill([&](auto n) { return uniform_value(seed, n) < 0.75 ? 1.0 : 0.0; });
    case element_type::i32: return t.fill([&](auto n) { return std::floor(4 * uniform_value(seed, n)); });
    case element_type::int8: return t.fill([&](auto n) { return 32 * normal_value(seed, n); });
    default: return t.fill([&](auto n) { return additive && uniform_value(~seed, n) < 0.25 ? -infinity : normal_value(seed, n); });
  }
}

/// Lengths from 0 to `keys`; the first batch has them all.
void fill_lengths(check_tensor &t, const check_case &how, bool may_be_empty) {
  const int least = may_be_empty || how.keys == 0 ? 0 : 1;
  t.fill([&](auto n) { return n == 0 ? how.keys : std::min<double>(how.keys, least + std::floor(uniform_value(how.seed, n) * (how.keys + 1 - least))); });
}

void fill_offsets(check_tensor &t, const check_case &how, bool in_tables) {
  t.fill([&](auto n) { return std::floor(uniform_value(how.seed + 1, n) * ((in_tables ? most_offset_in_tables : most_offset) + 1)); });
}

/// While one of these lives, an access outside the tensors ends the program with a sentence instead of a bare signal. Calls
/// may run on several threads: the first one installs the handlers, the last one takes them back.
class fault_report {
public:
  explicit fault_report(const std::string &what) {
    const std::lock_guard lock(mutex_);
    std::snprintf(text_, sizeof text_, "%s: the kernel read or wrote outside its tensors, or wrote to an input\n", what.c_str());
    if (alive_++ > 0) return;
    struct sigaction action {};
    action.sa_handler = [](int) {
      if (write(STDERR_FILENO, text_, std::strlen(text_)) < 0) _exit(3);
      _exit(2);
    };
    sigaction(SIGSEGV, &action, &before_segv_);
    sigaction(SIGBUS, &action, &before_bus_);
  }
  ~fault_report() {
    const std::lock_guard lock(mutex_);
    if (--alive_ > 0) return;
    sigaction(SIGSEGV, &before_segv_, nullptr);
    sigaction(SIGBUS, &before_bus_, nullptr);
  }
  fault_report(const fault_report &) = delete;
  fault_report &operator=(const fault_report &) = delete;

private:
  static inline std::mutex mutex_;
  static inline int alive_ = 0;
  static inline char text_[512];
  static inline struct sigaction before_segv_, before_bus_;
};

std::string place(const tensor_shape &shape, const std::vector<std::int64_t> &indices) {
  std::string text = "[";
  for (int a = 0; a < shape.rank; ++a) text += std::string(a ? ", " : "") + name_of(shape.axes[a].axis) + " " + std::to_string(indices[a]);
  return text + "]";
}

std::string number_text(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", x);
  return text;
}

/// At most 1 within the bound; infinite where one is NaN or infinite and the other is not.
double error_in_bounds(double got, double expected, double bound) {
  if (std::abs(got - expected) <= bound) return 1;
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got) ? 0 : infinity;
  if (got == expected) return 0;
  if (std::isinf(expected) || std::isinf(got)) return infinity;
  return bound > 0 ? std::abs(got - expected) / bound : infinity;
}

/// Empty if every element of `got` is within bound(expected element).
template <class Bound> std::string compare(const check_tensor &got, const scalar_tensor &expected, const Bound &bound, const std::string &bound_text) {
  if (got.extents() != expected.extents) return std::string("the reference gives ") + got.shape().name + " other extents: the check itself is wrong";
  double worst = 1;
  std::int64_t beyond = 0, n = 0, worst_n = 0;
  got.for_each_value([&](double g) {
    const double e = expected.values[n], error = error_in_bounds(g, e, bound(e));
    if (error > 1) ++beyond;
    if (error > worst) worst = error, worst_n = n;
    ++n;
  });
  if (beyond == 0) return got.gaps_untouched() ? "" : std::string(got.shape().name) + ": bytes between or around its elements were written";
  const std::vector<std::int64_t> worst_at = got.indices_of(worst_n);
  const double g = got.get(worst_at), e = expected(worst_at);
  return std::string(got.shape().name) + " is wrong at " + place(got.shape(), worst_at) + ": got " + number_text(g) + ", expected " + number_text(e) + ", off by " +
         number_text(std::abs(g - e)) + ", allowed " + number_text(bound(e)) + " (" + bound_text + "); " + std::to_string(beyond) + " of " +
         std::to_string(got.count()) + " elements are off by more";
}

linear_map random_map(std::int64_t inputs, std::int64_t outputs, bool bias, std::uint64_t seed) {
  linear_map map{inputs, outputs, {}, {}};
  map.matrix.resize(inputs * outputs);
  for (std::size_t i = 0; i < map.matrix.size(); ++i) map.matrix[i] = static_cast<float>(normal_value(seed, i) / std::sqrt(static_cast<double>(inputs)));
  map.bias.resize(bias ? outputs : 0);
  for (std::size_t i = 0; i < map.bias.size(); ++i) map.bias[i] = static_cast<float>(0.1 * normal_value(~seed, i));
  return map;
}

tensor_ref reference_to(const check_tensor &t) {
  const tensor_shape &shape = t.shape();
  tensor_ref r;
  r.data = t.data(), r.element = shape.element, r.writable = shape.written, r.rank = shape.rank;
  for (int a = 0; a < shape.rank; ++a) {
    r.axes[a] = shape.axes[a].axis;
    r.extent[a] = t.extents()[a], r.stride[a] = t.strides()[a];
  }
  return r;
}

/// A matrix or bias of `map` with the axes that pack_weights expects. All features in or out of one head lie together.
tensor_ref reference_to(const linear_map &map, const tensor_shape &shape, projection which, bool bias) {
  tensor_ref r;
  r.rank = shape.rank;
  if (r.rank == 0) return r;
  r.data = const_cast<float *>(bias ? map.bias.data() : map.matrix.data());
  std::int64_t in_stride = bias ? 0 : map.outputs, out_stride = 1;
  for (int a = shape.rank; a-- > 0;) {
    const bool is_model = shape.axes[a].axis == axis_name::model_dim, is_in = is_model != (which == projection::output);
    std::int64_t &stride = is_in ? in_stride : out_stride;
    r.axes[a] = shape.axes[a].axis, r.extent[a] = shape.axes[a].extent;
    r.stride[a] = stride;
    stride *= r.extent[a];
  }
  return r;
}

/// Whether the call must refuse: rows are empty by masks that a call sees (causal, prefix, windows, lengths and offsets).
bool must_refuse(const reference_operator &op, const reference_answer &expected) {
  const bool sees_all = op.mask_functions.empty() &&
                        std::none_of(op.inputs.begin(), op.inputs.end(), [](const input_declaration &i) { return i.role == tensor_role::boolean_mask || i.role == tensor_role::additive_mask; });
  return op.n.empty_rows == empty_row_policy::error && expected.has_empty_row && sees_all;
}

} // namespace

std::string check_case::text() const {
  return "batch " + std::to_string(batch) + ", " + std::to_string(queries) + " queries, " + std::to_string(keys) + " keys, " + name_of(order) +
         (threads ? ", " + std::to_string(threads) + " threads" : "");
}

check_weights::check_weights(const numbers &n, std::uint64_t seed) {
  if (!is_projected(n)) return;
  const int memory_dim = n.source == source_kind::projection ? n.model_dim : n.context_dim;
  query = random_map(n.model_dim, n.heads * n.head_dim, n.projection_bias, seed + 1);
  key = random_map(memory_dim, n.kv_heads * n.head_dim, n.projection_bias, seed + 2);
  value = random_map(memory_dim, n.kv_heads * n.value_dim, n.projection_bias, seed + 3);
  if (n.output_dim > 0) output = random_map(n.heads * n.value_dim, n.output_dim, n.output_bias, seed + 4);
}

const packed_weights_ref *check_weights::packed(const artefact_info &info, const call_options &options, status &ended) {
  const target_id target = options.target.value_or(target_id::avx2);
  if (const auto found = packed_.find(target); found != packed_.end()) return &found->second.ref;
  const linear_map *const maps[] = {&query, &key, &value, &output};
  weight_refs refs;
  for (projection p : {projection::query, projection::key, projection::value, projection::output}) {
    const int i = static_cast<int>(p);
    refs.matrices[i] = reference_to(*maps[i], weight_shape(info.n, p, false), p, false);
    refs.biases[i] = reference_to(*maps[i], weight_shape(info.n, p, true), p, true);
  }
  detail::packed_memory memory;
  ended = pack_weights(info, refs, options, memory);
  return ended ? &packed_.emplace(target, std::move(memory)).first->second.ref : nullptr;
}

check_call::check_call(unfilled, const reference_operator &op, const check_case &how, std::shared_ptr<check_weights> weights)
    : op_(op), signature_(op.call()), how_(how), weights_(weights ? weights : std::make_shared<check_weights>(op.n, 1)) {
  const auto flush = how.seed % 2 ? guarded_memory::side::end : guarded_memory::side::begin;
  for (int t = 0; t < signature_.tensor_count; ++t) {
    const tensor_shape &shape = signature_.tensors[t];
    tensors_.push_back(shape.role == tensor_role::packed_weights ? nullptr : std::make_unique<check_tensor>(shape, extents_in(op.n, how, shape), how.order, flush));
  }
  for (int i = 0; i < signature_.number_count; ++i) {
    const number_role role = signature_.call_numbers[i];
    numbers_.push_back(role == number_role::scale ? static_cast<float>(0.9 / std::sqrt(op.n.head_dim)) : role == number_role::softcap ? 3.0 : role == number_role::sigmoid_bias ? -1.5 : how.keys / 3);
  }
}

check_call::check_call(const reference_operator &op, const check_case &how, std::shared_ptr<check_weights> weights)
    : check_call(unfilled{}, op, how, std::move(weights)) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (!tensors_[i] || tensors_[i]->shape().written) continue;
    check_tensor &t = *tensors_[i];
    const std::uint64_t seed = how.seed * 64 + i;
    if (t.shape().role == tensor_role::key_lengths) fill_lengths(t, how, op.n.empty_rows == empty_row_policy::zero);
    else if (t.shape().role == tensor_role::position_offsets) fill_offsets(t, how, op.n.rope.angle_tables);
    else if (!fill_known(t, how, seed)) fill_input(t, seed);
  }
  fill_cache(*this, op.n, how.seed);
}

check_tensor &check_call::tensor(std::string_view name) {
  for (const auto &t : tensors_)
    if (t && t->shape().name == name) return *t;
  throw std::invalid_argument("check: " + op_.name + " has no tensor " + std::string(name));
}
const check_tensor &check_call::tensor(std::string_view name) const { return const_cast<check_call *>(this)->tensor(name); }

std::vector<const check_tensor *> check_call::inputs() const {
  std::vector<const check_tensor *> read;
  for (const auto &t : tensors_)
    if (t && !t->shape().written) read.push_back(t.get());
  return read;
}

double &check_call::number(number_role role) {
  for (int i = 0; i < signature_.number_count; ++i)
    if (signature_.call_numbers[i] == role) return numbers_[i];
  throw std::invalid_argument("check: " + op_.name + " takes no " + name_of(role) + " at the call");
}

reference_arguments check_call::arguments() const {
  reference_arguments a;
  for (const auto &t : tensors_) {
    if (!t || t->shape().written) continue;
    switch (t->shape().role) {
      case tensor_role::query: a.query = t->values(); break;
      case tensor_role::key: a.key = t->values(); break;
      case tensor_role::value: a.value = t->values(); break;
      case tensor_role::hidden: a.hidden = t->values(); break;
      case tensor_role::context: a.context = t->values(); break;
      case tensor_role::key_scale: a.key_scale = t->values(); break;
      case tensor_role::value_scale: a.value_scale = t->values(); break;
      case tensor_role::page_table: a.page_table = t->values(); break;
      case tensor_role::key_lengths:
        for (double length : t->values().values) a.key_lengths.push_back(static_cast<std::int64_t>(length));
        break;
      case tensor_role::position_offsets:
        for (double offset : t->values().values) a.position_offsets.push_back(static_cast<std::int64_t>(offset));
        break;
      case tensor_role::cos_table: a.cos_table = t->values(); break;
      case tensor_role::sin_table: a.sin_table = t->values(); break;
      default: a.inputs.push_back(t->values());
    }
  }
  a.query_projection = &weights_->query, a.key_projection = &weights_->key, a.value_projection = &weights_->value, a.output_projection = &weights_->output;
  for (int i = 0; i < signature_.number_count; ++i) number_of(a, signature_.call_numbers[i]) = numbers_[i];
  return a;
}

status check_call::run(const artefact_info &info, call_options options) {
  if (options.threads == 0) options.threads = how_.threads;
  status result;
  std::vector<tensor_ref> references;
  for (const auto &t : tensors_) {
    references.push_back(t ? reference_to(*t) : tensor_ref{});
    if (!t) {
      references.back().data = const_cast<packed_weights_ref *>(weights_->packed(info, options, result));
      if (!result) return result;
    } else if (t->shape().written) t->memory().wipe();
    else t->memory().forbid_writes();
  }
  {
    const fault_report report(op_.name + ", " + how_.text());
    result = call(info, references.data(), static_cast<int>(references.size()), numbers_.data(), static_cast<int>(numbers_.size()), options);
  }
  for (const auto &t : tensors_)
    if (t && !t->shape().written) t->memory().allow_writes();
  return result;
}

std::string check_call::differences(const reference_answer &expected) const {
  const double b = error_bound(op_.n.element);
  const std::string b_text = number_text(b);
  std::string text;
  const auto add = [&](const std::string &difference) { text += (text.empty() || difference.empty() ? "" : "; ") + difference; };
  const double unit = expected.largest_value * expected.largest_total;
  add(compare(tensor("output"), expected.output, [&](double) { return b * unit; }, b_text + " x max|V| x max(1, sum of weights) = " + number_text(unit)));
  if (op_.n.returns_lse)
    add(compare(tensor("lse"), expected.lse, [&](double e) { return b * std::max(1.0, std::abs(e)); }, b_text + " x max(1, |LSE|)"));
  if (op_.n.returns_weights) add(compare(tensor("attention_weights"), expected.weights, [&](double) { return b; }, b_text));
  const auto add_scores = [&](bool returned, const char *name, const scalar_tensor &scores) {
    if (returned) add(compare(tensor(name), scores, [&](double) { return b * expected.largest_score; }, b_text + " x max(1, max|score|) = " + number_text(expected.largest_score)));
  };
  add_scores(op_.n.returns_scaled_scores, "scaled_scores", expected.scaled_scores);
  add_scores(op_.n.returns_capped_scores, "capped_scores", expected.capped_scores);
  add_scores(op_.n.returns_masked_scores, "masked_scores", expected.masked_scores);
  return text;
}

double error_bound(element_type element) {
  return element == element_type::f16 ? 0x1p-10 : element == element_type::bf16 ? 0x1p-7 : 2e-6;
}

check_result check_kernel(const artefact_info &info, const reference_operator &op, target_id target, const check_case &how,
                          std::shared_ptr<check_weights> weights) {
  check_call call(op, how, std::move(weights));
  return check_kernel(info, target, call, call.reference());
}

check_result check_kernel(const artefact_info &info, target_id target, check_call &call, const reference_answer &expected) {
  const reference_operator &op = call.op();
  const std::string where = op.name + " on " + info_of(target).name + ", " + call.how().text();
  call_options options;
  options.target = target;
  const status ended = call.run(info, options);
  if (!ended && ended.code == error_code::empty_row && op.n.empty_rows == empty_row_policy::error && expected.has_empty_row) return {true, where};
  if (!ended) return {false, where + ": the call failed: " + ended.message()};
  if (must_refuse(op, expected)) return {false, where + ": a row is empty, which the spec makes an error, but the call succeeded"};
  const std::string differences = call.differences(expected);
  return {differences.empty(), differences.empty() ? where : where + ": " + differences};
}

} // namespace attune

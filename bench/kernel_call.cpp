#include "bench/kernel_call.hpp"
#include "bench/counting_allocator.hpp"
#include "bench/elements.hpp"
#include "runtime/call.hpp"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <numeric>
#include <random>
#include <stdexcept>

namespace attune::bench {
namespace {

std::int64_t count_of(const std::vector<std::int64_t> &extents) {
  std::int64_t n = 1;
  for (std::int64_t e : extents) n *= e;
  return n;
}

void write_file(const std::filesystem::path &file, const void *data, std::size_t bytes) {
  std::ofstream out(file, std::ios::binary);
  out.write(static_cast<const char *>(data), static_cast<std::streamsize>(bytes));
  out.close();
  if (!out) throw std::runtime_error(fmt::format("cannot write {}: is the disk full? TMPDIR names another folder", file.string()));
}

} // namespace

kernel_call::kernel_call(const work &w) : work_(w), op_(w.refer()), signature_(op_.call()), weights_(op_.n, 1) {
  for (int t = 0; t < signature_.tensor_count; ++t) {
    const tensor_shape &shape = signature_.tensors[t];
    input in{shape, {}, {}};
    for (int a = 0; a < shape.rank; ++a) in.extents.push_back(extent_of_axis(shape.axes[a]));
    tensors_.push_back(std::move(in));
  }
  copies_ = work_.copies();
  const auto bytes_of = [](const input &in) { return static_cast<std::size_t>(count_of(in.extents)) * size_of(in.shape.element); };
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    input &in = tensors_[t];
    if (in.shape.role == tensor_role::packed_weights) continue;
    const bool rotated = in.shape.role == tensor_role::key || in.shape.role == tensor_role::value;
    for (std::size_t i = 0; i < (rotated ? copies_ : 1); ++i) {
      in.copies.emplace_back(bytes_of(in));
      if (i > 0) std::memcpy(in.copies[i].data(), in.copies[0].data(), in.copies[0].bytes());
      else if (!in.shape.written) fill(in, 64 + t);
    }
  }
  if (!is_projected(op_.n)) return;
  call_options options;
  options.target = work_.target;
  status ended;
  packed_ = weights_.packed(work_.info(), options, ended);
  require(ended);
}

void kernel_call::fill(input &in, std::uint64_t seed) const {
  char *data = in.copies[0].data();
  const std::int64_t count = count_of(in.extents);
  switch (in.shape.role) {
    case tensor_role::key_lengths: std::fill_n(reinterpret_cast<std::int32_t *>(data), count, work_.keys); break;
    case tensor_role::page_table: { // in no order, as a server's pages are after a while
      std::vector<std::int32_t> pages(static_cast<std::size_t>(count));
      std::iota(pages.begin(), pages.end(), 0);
      std::shuffle(pages.begin(), pages.end(), std::mt19937(static_cast<unsigned>(seed)));
      std::memcpy(data, pages.data(), in.copies[0].bytes());
      break;
    }
    case tensor_role::key_scale: case tensor_role::value_scale:
      std::fill_n(reinterpret_cast<float *>(data), count, cache_element(op_.n) == element_type::int8 ? int8_step : 1.0f);
      break;
    default: fill_normal(data, in.shape.element, count, seed);
  }
}

std::int64_t kernel_call::extent_of_axis(const axis_extent &axis) const {
  const std::int64_t pages = is_paged(op_.n) ? (work_.keys + op_.n.cache.page_size - 1) / op_.n.cache.page_size : 0;
  switch (axis.axis) {
    case axis_name::batch: return work_.batch;
    case axis_name::query: return work_.queries;
    case axis_name::key: return work_.keys;
    case axis_name::sequence_page: return pages;
    case axis_name::page: return work_.batch * pages;
    default: return axis.extent;
  }
}

const kernel_call::input &kernel_call::input_of(tensor_role role) const {
  for (const input &in : tensors_)
    if (in.shape.role == role) return in;
  throw std::logic_error(fmt::format("{} has no such tensor", op_.name));
}

std::vector<tensor_ref> kernel_call::references(std::size_t copy) {
  std::vector<tensor_ref> all;
  for (const input &in : tensors_) {
    tensor_ref r;
    if (in.copies.empty()) r.data = const_cast<packed_weights_ref *>(packed_);
    else {
      r.data = in.copies[copy % in.copies.size()].data();
      r.element = in.shape.element, r.writable = in.shape.written, r.rank = in.shape.rank;
      std::int64_t stride = 1;
      for (int a = r.rank; a-- > 0; stride *= r.extent[a]) {
        r.axes[a] = in.shape.axes[a].axis;
        r.extent[a] = in.extents[static_cast<std::size_t>(a)];
        r.stride[a] = stride;
      }
    }
    all.push_back(r);
  }
  return all;
}

void kernel_call::run(int threads) {
  const std::vector<tensor_ref> all = references(next_++ % copies_);
  call_options options;
  options.target = work_.target;
  options.threads = threads;
  require(call(work_.info(), all.data(), static_cast<int>(all.size()), work_.call_numbers.data(), static_cast<int>(work_.call_numbers.size()), options));
}

void kernel_call::touch() const {
  for (const input &in : tensors_)
    if (in.copies.size() > 1)
      for (const memory_block &copy : in.copies) copy.touch();
}

std::size_t kernel_call::scratch_bytes() {
  counting_allocator counted;
  const std::vector<tensor_ref> all = references(0);
  call_options options;
  options.target = work_.target;
  options.threads = work_.threads;
  options.memory = counted.hooks();
  require(call(work_.info(), all.data(), static_cast<int>(all.size()), work_.call_numbers.data(), static_cast<int>(work_.call_numbers.size()), options));
  return counted.most();
}

std::vector<float> kernel_call::output() const {
  const input &out = input_of(tensor_role::output);
  return all_of(out.copies[0].data(), out.shape.element, count_of(out.extents));
}

scalar_tensor kernel_call::last_of(const input &in, std::int64_t rows) const {
  std::vector<std::int64_t> extents = in.extents;
  const std::size_t row_axis = extents.size() - 2;
  const std::int64_t all_rows = extents[row_axis], features = extents.back();
  extents[row_axis] = std::min(rows, all_rows);
  scalar_tensor last(extents);
  const std::int64_t kept = extents[row_axis] * features;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(last.values.size()); ++i) {
    const std::int64_t outer = i / kept, skipped = (all_rows - extents[row_axis]) * features;
    last.values[static_cast<std::size_t>(i)] = load(in.copies[0].data(), in.shape.element, outer * all_rows * features + skipped + i % kept);
  }
  return last;
}

scalar_tensor kernel_call::whole(const input &in) {
  scalar_tensor all(in.extents);
  for (std::size_t i = 0; i < all.values.size(); ++i) {
    const std::int64_t n = static_cast<std::int64_t>(i);
    const char *data = in.copies[0].data();
    if (in.shape.element == element_type::i32) all.values[i] = reinterpret_cast<const std::int32_t *>(data)[n];
    else all.values[i] = load(data, in.shape.element, n);
  }
  return all;
}

// The last queries alone are a call of their own: with fewer queries than keys, aligned at the end. In a layer they become
// the hidden states of a cross-projection whose context is all tokens.
expected_rows kernel_call::reference() const {
  reference_operator op = op_;
  op.n.same_extents = false;
  if (op.n.causal == causal_alignment::diagonal) op.n.causal = causal_alignment::bottom_right;
  std::int64_t keys = work_.keys;
  if (op.n.causal != causal_alignment::off && op.n.window.kind == setting::fixed)
    keys = std::min(keys, static_cast<std::int64_t>(op.n.window.value) + checked_queries);
  reference_arguments a;
  if (is_projected(op.n)) {
    op.n.source = source_kind::cross_projection;
    op.n.context_dim = op.n.model_dim;
    a.hidden = last_of(input_of(tensor_role::hidden), checked_queries);
    a.context = last_of(input_of(tensor_role::hidden), keys);
    a.query_projection = &weights_.query, a.key_projection = &weights_.key, a.value_projection = &weights_.value, a.output_projection = &weights_.output;
  } else {
    a.query = last_of(input_of(tensor_role::query), checked_queries);
    a.key = last_of(input_of(tensor_role::key), keys);
    a.value = last_of(input_of(tensor_role::value), keys);
    if (op.n.cache.scale != kv_scaling::off) a.key_scale = whole(input_of(tensor_role::key_scale)), a.value_scale = whole(input_of(tensor_role::value_scale));
    if (is_paged(op.n)) a.page_table = whole(input_of(tensor_role::page_table));
    if (op.n.key_lengths) a.key_lengths.assign(static_cast<std::size_t>(work_.batch), keys);
  }
  for (int i = 0; i < signature_.number_count; ++i) number_of(a, signature_.call_numbers[i]) = work_.call_numbers[static_cast<std::size_t>(i)];
  reference_answer answer = evaluate_reference(op, a);
  return {std::move(answer.output), error_bound(op.n.element) * answer.largest_value};
}

void kernel_call::write_inputs(const std::filesystem::path &folder) const {
  for (const input &in : tensors_)
    if (!in.copies.empty() && !in.shape.written) write_file(folder / fmt::format("{}.bin", in.shape.name), in.copies[0].data(), in.copies[0].bytes());
  if (!packed_) return;
  const linear_map *const maps[] = {&weights_.query, &weights_.key, &weights_.value, &weights_.output};
  for (projection p : {projection::query, projection::key, projection::value, projection::output}) {
    const linear_map &map = *maps[static_cast<int>(p)];
    write_file(folder / fmt::format("{}_weight.bin", name_of(p)), map.matrix.data(), map.matrix.size() * sizeof(float));
    write_file(folder / fmt::format("{}_bias.bin", name_of(p)), map.bias.data(), map.bias.size() * sizeof(float));
  }
}

} // namespace attune::bench

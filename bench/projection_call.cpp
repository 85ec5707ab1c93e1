#include "bench/projection_call.hpp"
#include "bench/counting_allocator.hpp"
#include "bench/elements.hpp"
#include "runtime/call.hpp"
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

extern "C" void attune_install_hooks_attune_bench_projections();

namespace attune::bench {
namespace {
halide_type_t halide_type(element_type e) {
  return e == element_type::f32 ? halide_type_t{halide_type_float, 32} : halide_type_t{halide_type_uint, 16};
}
} // namespace

void projection_call::buffer::describe(void *data, element_type element, std::initializer_list<std::int64_t> extents) {
  head.host = static_cast<std::uint8_t *>(data);
  head.type = halide_type(element);
  head.dimensions = static_cast<std::int32_t>(extents.size());
  head.dim = axes;
  std::int32_t stride = 1, axis = 0;
  for (const std::int64_t extent : extents) {
    axes[axis++] = {0, static_cast<std::int32_t>(extent), stride};
    stride *= static_cast<std::int32_t>(extent);
  }
}

projection_call::projection_call(const work &w) : work_(w), weights_(w.info().n, 1), element_(w.info().n.element) {
  static const bool hooked = (attune_install_hooks_attune_bench_projections(), true);
  static_cast<void>(hooked);
  call_options options;
  options.target = w.target;
  status ended;
  const packed_weights_ref *packed = weights_.packed(w.info(), options, ended);
  require(ended);
  const packed_matrix &matrix = packed->matrices[static_cast<int>(projection::output)];
  const std::int64_t in = matrix.features_in, out = matrix.features_out, lanes = packed->lanes, panels = (out + lanes - 1) / lanes;
  rows_ = memory_block(static_cast<std::size_t>(w.queries * in) * size_of(element_));
  result_ = memory_block(static_cast<std::size_t>(w.queries * out) * size_of(element_));
  fill_normal(rows_.data(), element_, w.queries * in, 64);
  rows_buffer_.describe(rows_.data(), element_, {in, w.queries, 1});
  matrix_.describe(matrix.data, element_, {lanes * in, panels});
  bias_.describe(matrix.bias, element_type::f32, {lanes * panels});
  result_buffer_.describe(result_.data(), element_, {out, w.queries, 1});
}

void projection_call::call(call_context &context) {
  void *user_context = &context;
  void *argv[] = {&user_context, &rows_buffer_.head, &matrix_.head, &bias_.head, &result_buffer_.head};
  if (const int failed = work_.projection(argv))
    throw std::runtime_error(fmt::format("{}: generated code failed with code {}: {}", work_.name, failed, context.error_text));
}

void projection_call::run(int threads) {
  call_context context;
  context.threads = threads;
  call(context);
}

std::size_t projection_call::scratch_bytes() {
  counting_allocator counted;
  call_context context;
  context.threads = work_.threads;
  context.memory = counted.hooks();
  call(context);
  return counted.most();
}

std::vector<float> projection_call::output() const { return all_of(result_.data(), element_, work_.queries * weights_.output.outputs); }

expected_rows projection_call::reference() const {
  const linear_map &map = weights_.output;
  expected_rows expected{scalar_tensor({1, checked_queries, map.outputs}), 0};
  const std::int64_t first = work_.queries - checked_queries;
  const auto weight = [&](std::int64_t i, std::int64_t n) { return round_to(element_, map.matrix[static_cast<std::size_t>(i * map.outputs + n)]); };
  double largest = 0;
  for (std::int64_t row = 0; row < checked_queries; ++row)
    for (std::int64_t n = 0; n < map.outputs; ++n) {
      double sum = map.bias[static_cast<std::size_t>(n)];
      for (std::int64_t i = 0; i < map.inputs; ++i) sum += load(rows_.data(), element_, (first + row) * map.inputs + i) * weight(i, n);
      expected.output({0, row, n}) = sum;
      largest = std::max(largest, std::abs(sum));
    }
  expected.bound = error_bound(element_) * largest;
  return expected;
}

void projection_call::write_inputs(const std::filesystem::path &) const { throw std::logic_error("projections are not compared with peers"); }

} // namespace attune::bench

// The lowering pass that finds products for tiles, just-in-time on AVX2 with hooks in plain C++, on pipelines smaller than attention.
#include "catch2/catch.hpp"
#include "dsl/pipeline/element.hpp"
#include "dsl/targets.hpp"
#include "schedules/tile_products.hpp"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {
using namespace attune;
using namespace Halide;

const Target jit = Target(find_target("avx2")->halide_target).with_feature(Target::JIT);
bool configured = false; // of one thread

int configure_tiles() { return configured = true, 0; }
int release_tiles() { return configured = false, 0; }

float bf16_at(const char *at) {
  std::uint16_t stored;
  std::memcpy(&stored, at, 2);
  const std::uint32_t bits = std::uint32_t{stored} << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

int multiply(const char *a, std::int64_t a_offset, std::int64_t a_row, std::int64_t a_step, const char *b, std::int64_t b_offset, std::int64_t b_row, std::int64_t b_step, char *c,
             std::int64_t c_offset, std::int64_t c_row, std::int32_t rows, std::int32_t columns, std::int32_t pair_tiles, std::int32_t steps, std::int32_t accumulate) {
  if (!configured) return 1;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      float *const sum = reinterpret_cast<float *>(c + c_offset + row * c_row) + column;
      if (!accumulate) *sum = 0;
      for (int step = 0; step < steps; ++step)
        for (int pair = 0; pair < 16 * pair_tiles; ++pair)
          for (int half = 0; half < 2; ++half)
            *sum += bf16_at(a + a_offset + row * a_row + step * a_step + 4 * pair + 2 * half) * bf16_at(b + b_offset + pair * b_row + step * b_step + 4 * column + 2 * half);
    }
  return 0;
}

/// Memory of the pipeline begins as NaN.
void *poisoned(JITUserContext *, size_t bytes) {
  bytes = (bytes + 127) / 64 * 64;
  return std::memset(std::aligned_alloc(64, bytes), 0xff, bytes);
}
void release(JITUserContext *, void *block) { std::free(block); }

constexpr int rows = 32, columns = 16;

/// c[column, row, task] = sum over steps from `begin + task` to `end + task`, of `steps`, and over 16 pairs each.
struct small_product {
  ImageParam a{UInt(16), 2, "a"}, b{UInt(16), 3, "b"}; // (feature, row), (half, column, pair)
  Param<int> begin{"begin"}, end{"end"};
  Var column{"column"}, row{"row"}, task{"task"};
  Func sum{"sum"}, result{"result"};
  RDom r;

  explicit small_product(int steps) : r(0, 2, 0, tile_pairs, 0, steps) {
    const Expr pair = r.z * tile_pairs + r.y;
    r.where(r.z >= begin + task);
    r.where(r.z < end + task);
    sum(column, row, task) = 0.0f;
    sum(column, row, task) += dot_factor(a(2 * pair + r.x, row)) * dot_factor(b(r.x, column, pair));
    result(column, row, task) = sum(column, row, task);
    a.dim(0).set_min(0), a.dim(1).set_min(0);
    b.dim(0).set_bounds(0, 2), b.dim(1).set_bounds(0, columns).set_stride(2), b.dim(2).set_min(0).set_stride(2 * columns);
    result.output_buffer().dim(0).set_bounds(0, columns), result.output_buffer().dim(1).set_bounds(0, rows);
    sum.compute_at(result, task).bound_extent(column, columns).bound_extent(row, rows).store_in(MemoryType::Heap);
    sum.update().reorder(r.x, column, row, r.y, r.z);
  }
};

std::uint16_t small_number(int i) { // -3 to 3, as bf16: sums are exact
  const float value = static_cast<float>(i * 7 % 13 % 7 - 3);
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return static_cast<std::uint16_t>(bits >> 16);
}

void must_multiply(int steps, int begin, int end) {
  INFO(steps << " steps, from " << begin << " to " << end);
  small_product p(steps);
  Buffer<std::uint16_t> a(2 * tile_pairs * steps, rows), b(2, columns, tile_pairs * steps);
  a.for_each_element([&](int x, int y) { a(x, y) = small_number(x + 5 * y); });
  b.for_each_element([&](int x, int y, int z) { b(x, y, z) = small_number(3 * x + y + 11 * z); });
  p.a.set(a), p.b.set(b), p.begin.set(begin), p.end.set(end);
  p.result.parallel(p.task);
  Pipeline pipeline(p.result);
  pipeline.add_custom_lowering_pass(new tile_products({{p.sum.name()}, {}}));
  pipeline.set_jit_externs({{"attune_tile_products", JITExtern(multiply)}, {"attune_configure_tiles", JITExtern(configure_tiles)}, {"attune_release_tiles", JITExtern(release_tiles)}});
  pipeline.jit_handlers().custom_malloc = poisoned, pipeline.jit_handlers().custom_free = release;
  pipeline.jit_handlers().custom_do_par_for = [](JITUserContext *context, int (*body)(JITUserContext *, int, std::uint8_t *), int first, int count, std::uint8_t *closure) {
    for (int i = 0; i < count; ++i) body(context, first + i, closure);
    return 0;
  };
  constexpr int tasks = 3;
  Buffer<float> c(columns, rows, tasks);
  pipeline.realize(c, jit);
  int wrong = 0;
  c.for_each_element([&](int column, int row, int task) {
    float sum = 0;
    for (int pair = tile_pairs * std::max(begin + task, 0); pair < tile_pairs * std::min(end + task, steps); ++pair)
      for (int half = 0; half < 2; ++half)
        sum += bf16_at(reinterpret_cast<const char *>(&a(2 * pair + half, row))) * bf16_at(reinterpret_cast<const char *>(&b(half, column, pair)));
    wrong += c(column, row, task) != sum;
  });
  CHECK(wrong == 0);
  CHECK_FALSE(configured);
}

} // namespace

TEST_CASE("a product is over the steps that conditions leave, and 0 where they leave none") {
  for (const int steps : {1, 3})
    for (const auto &[begin, end] : {std::pair{0, 1}, {-1, 2}, {-2, 0}, {1, 5}, {2, 1}}) must_multiply(steps, begin, end);
}

TEST_CASE("a product outside of tasks is refused: nothing would configure its tiles") {
  small_product p(3);
  Pipeline pipeline(p.result);
  pipeline.add_custom_lowering_pass(new tile_products({{p.sum.name()}, {}}));
  CHECK_THROWS_WITH(pipeline.compile_to_module(pipeline.infer_arguments(), "serial", jit), Catch::Contains("there is no parallel loop around it"));
}

// Views and tensors: extents, strides, elements, type erasure.
#include "runtime/tensor.hpp"
#include <catch2/catch.hpp>
#include <vector>

using namespace attune;
using namespace attune::axes;

TEST_CASE("a contiguous view takes the open extents, or all") {
  float memory[2 * 12 * 5 * 64] = {};
  const view<float, batch<>, head<12>, query<>, head_dim<64>> open(memory, 2, 5), all(memory, 2, 12, 5, 64);
  for (const auto &v : {open, all}) {
    CHECK(v.extent == std::array<std::int64_t, 4>{2, 12, 5, 64});
    CHECK(v.stride == std::array<std::int64_t, 4>{12 * 5 * 64, 5 * 64, 64, 1});
    CHECK(v.size() == 2 * 12 * 5 * 64);
  }
  open(1, 2, 3, 4) = 9;
  CHECK(memory[((1 * 12 + 2) * 5 + 3) * 64 + 4] == 9);
}

TEST_CASE("strides are in elements and free") {
  std::vector<float> memory(1000);
  const view<float, query<>, head<2>, head_dim<4>> v(memory.data(), {10, 2, 4}, {32, 8, 1});
  v(3, 1, 2) = 7;
  CHECK(memory[3 * 32 + 8 + 2] == 7);
  const tensor_ref r = erase(v);
  CHECK(r.data == memory.data());
  CHECK(r.element == element_type::f32);
  CHECK(r.writable);
  CHECK(r.rank == 3);
  CHECK(r.axes[1] == axis_name::head);
  CHECK(r.extent[0] == 10);
  CHECK(r.stride[0] == 32);
  const std::size_t step = 32;
  CHECK(view<float, query<>, head<2>, head_dim<4>>(memory.data(), v.extent, {step, 8, 1}).stride == v.stride);
  const view<const float, query<>, head<2>, head_dim<4>> read = v;
  CHECK_FALSE(erase(read).writable);
}

TEST_CASE("a tensor is zero, aligned, contiguous, and moves") {
  tensor<bf16_t, batch<>, key<>> t(3, 7);
  CHECK(reinterpret_cast<std::uintptr_t>(t.data()) % 64 == 0);
  for (bf16_t x : t) CHECK(x.bits == 0);
  t(2, 6).bits = 5;
  bf16_t *const where = t.data();
  tensor<bf16_t, batch<>, key<>> other = std::move(t);
  CHECK(other.data() == where);
  CHECK(other.begin()[20].bits == 5);
  CHECK(t.data() == nullptr);
  t = tensor<bf16_t, batch<>, key<>>(1, 1);
  CHECK(t.size() == 1);
  CHECK(erase(other).element == element_type::bf16);
  CHECK(tensor<float, head<2>>().size() == 2);
  CHECK(tensor<float, batch<>, head<2>>(0).size() == 0);
}

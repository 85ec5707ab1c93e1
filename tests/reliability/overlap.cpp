// The test for shared memory, against brute force, and on the layouts that people use.
#include "runtime/bind.hpp"
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <vector>

using namespace attune;

namespace {

struct strided {
  tensor_shape shape{};
  bound_tensor t;

  strided(std::intptr_t first, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides, element_type e = element_type::f32) {
    shape.element = e;
    shape.rank = static_cast<int>(extents.size());
    t.data = reinterpret_cast<void *>(first);
    std::copy(extents.begin(), extents.end(), t.extent);
    std::copy(strides.begin(), strides.end(), t.stride);
  }
  const bound_tensor &bound() {
    t.shape = &shape;
    return t;
  }
  /// The first byte of each element, once for each index.
  std::multiset<std::intptr_t> addresses() const {
    std::multiset<std::intptr_t> all;
    const auto size = static_cast<std::intptr_t>(size_of(shape.element));
    for (std::int64_t i = 0; i < t.extent[0]; ++i)
      for (std::int64_t j = 0; j < t.extent[1]; ++j)
        for (std::int64_t k = 0; k < t.extent[2]; ++k)
          all.insert(reinterpret_cast<std::intptr_t>(t.data) + size * (i * t.stride[0] + j * t.stride[1] + k * t.stride[2]));
    return all;
  }
};

bool share(const strided &a, const strided &b) {
  for (std::intptr_t x : a.addresses()) {
    const auto y = b.addresses();
    const auto width = static_cast<std::intptr_t>(size_of(b.shape.element));
    const auto it = y.upper_bound(x - width);
    if (it != y.end() && *it < x + static_cast<std::intptr_t>(size_of(a.shape.element))) return true;
  }
  return false;
}

} // namespace

TEST_CASE("query, key, value and output as slices of one row are apart") {
  const std::int64_t row = 4 * 32; // [token, 4, 4 heads, 8]
  strided slices[] = {{0x1000, {10, 4, 8}, {row, 8, 1}}, {0x1000 + 32 * 4, {10, 4, 8}, {row, 8, 1}}, {0x1000 + 96 * 4, {10, 4, 8}, {row, 8, 1}}};
  for (strided &a : slices)
    for (strided &b : slices) CHECK(may_overlap(a.bound(), b.bound()) == (&a == &b));
  strided wide(0x1000 + 24 * 4, {10, 2, 8}, {row, 8, 1});
  CHECK(may_overlap(wide.bound(), slices[0].bound()));
}

TEST_CASE("interleaved heads are apart, shifted ones are not") {
  strided even(0x1000, {10, 4, 8}, {64, 16, 1}), odd(0x1000 + 8 * 4, {10, 4, 8}, {64, 16, 1}), shifted(0x1000 + 4 * 4, {10, 4, 8}, {64, 16, 1});
  CHECK_FALSE(may_overlap(even.bound(), odd.bound()));
  CHECK(may_overlap(even.bound(), shifted.bound()));
}

TEST_CASE("no shared element is missed, and apart tensors mostly pass") {
  std::mt19937 random(7);
  const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  int shared = 0, apart = 0, refused_apart = 0, own = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto make = [&] {
      return strided(0x1000 + 2 * pick(0, 60), {pick(0, 3), pick(1, 3), pick(1, 4)}, {pick(0, 12), pick(0, 8), pick(0, 2)}, pick(0, 1) ? element_type::f32 : element_type::f16);
    };
    strided a = make(), b = make();
    if (share(a, b)) {
      ++shared;
      REQUIRE(may_overlap(a.bound(), b.bound()));
    } else {
      ++apart;
      refused_apart += may_overlap(a.bound(), b.bound());
    }
    const auto addresses = a.addresses();
    if (std::set<std::intptr_t>(addresses.begin(), addresses.end()).size() != addresses.size()) {
      ++own;
      REQUIRE(may_overlap_itself(a.bound()));
    }
  }
  INFO(shared << " shared, " << apart << " apart, " << refused_apart << " of these refused, " << own << " with themselves");
  CHECK(shared > 500);
  CHECK(own > 500);
  CHECK(refused_apart < apart / 2);
}

// Appending to a KV cache: every place of the memory, every element, and what is refused with nothing written.
#include "runtime/cache.hpp"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace attune;
using namespace attune::axes;
using Catch::Matchers::Contains;

namespace {

template <class T> bool same_bits(const T &a, const T &b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// Two batches of two heads, three features; room for five keys, of which batch 0 holds two and batch 1 none.
template <class T> struct contiguous {
  tensor<T, batch<>, kv_head<>, key<>, head_dim<>> keys{2, 2, 5, 3};
  tensor<T, batch<>, kv_head<>, key<>, value_dim<>> values{2, 2, 5, 4};
  tensor<std::int32_t, batch<>> lengths{2};
  tensor<float, batch<>, kv_head<>, key<>> key_scales{2, 2, 5}, value_scales{2, 2, 5};
  tensor<float, batch<>, kv_head<>, query<>, head_dim<>> new_keys{2, 2, 3, 3};
  tensor<float, batch<>, kv_head<>, query<>, value_dim<>> new_values{2, 2, 3, 4};
  kv_cache cache;

  contiguous() {
    lengths(0) = 2;
    float x = 1;
    for (float &k : new_keys) k = x++ / 8;
    for (float &v : new_values) v = -x++ / 8;
    cache.key = keys, cache.value = values, cache.key_lengths = lengths;
  }
  void refuses(error_code code, const std::string &part, const any_tensor &counts = {}) {
    const std::vector<T> before(keys.begin(), keys.end());
    const std::int32_t first = lengths(0);
    const status s = try_append(cache, new_keys, new_values, counts);
    CHECK(std::string(name_of(s.code)) == name_of(code));
    CHECK_THAT(s.message(), Contains(part));
    for (std::int64_t i = 0; i < keys.size(); ++i) REQUIRE(same_bits(keys.data()[i], before[static_cast<std::size_t>(i)]));
    CHECK(lengths(0) == first);
  }
};

} // namespace

TEST_CASE("append: new keys stand behind those that each batch holds") {
  contiguous<float> c;
  append(c.cache, c.new_keys, c.new_values);
  CHECK(c.lengths(0) == 5);
  CHECK(c.lengths(1) == 3);
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 2; ++h)
      for (int k = 0; k < 5; ++k) {
        const int first = b == 0 ? 2 : 0, i = k - first;
        for (int d = 0; d < 3; ++d) CHECK(c.keys(b, h, k, d) == (i >= 0 && i < 3 ? c.new_keys(b, h, i, d) : 0));
        for (int d = 0; d < 4; ++d) CHECK(c.values(b, h, k, d) == (i >= 0 && i < 3 ? c.new_values(b, h, i, d) : 0));
      }
  c.refuses(error_code::bad_lengths, "batch 0 holds 5 keys and gets 3 more, but there is room for 5");
}

TEST_CASE("append: as many as each batch gets, the last ones") {
  contiguous<float> c;
  tensor<std::int32_t, batch<>> counts(2);
  counts(1) = 2;
  append(c.cache, c.new_keys, c.new_values, counts);
  CHECK(c.lengths(0) == 2);
  CHECK(c.lengths(1) == 2);
  CHECK(c.keys(0, 1, 2, 0) == 0);
  CHECK(c.keys(1, 1, 0, 2) == c.new_keys(1, 1, 1, 2));
  CHECK(c.values(1, 0, 1, 3) == c.new_values(1, 0, 2, 3));
  counts(0) = 4;
  c.refuses(error_code::bad_lengths, "tensor new_lengths: batch 0 gets 4 keys, expected 0 to 3", counts);
}

TEST_CASE("append: int8 with a scale for each key: max |x| / 127, to nearest") {
  contiguous<std::int8_t> c;
  c.refuses(error_code::missing_tensor, "int8 keys and values need scales");
  c.cache.key_scale = c.key_scales, c.cache.value_scale = c.value_scales;
  for (int d = 0; d < 3; ++d) c.new_keys(1, 0, 0, d) = 0;
  c.new_keys(1, 0, 1, 1) = std::numeric_limits<float>::quiet_NaN();
  append(c.cache, c.new_keys, c.new_values);
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < 3; ++i) {
      const float scale = c.new_keys(0, h, i, 2) / 127;
      CHECK(c.key_scales(0, h, 2 + i) == scale);
      CHECK(c.keys(0, h, 2 + i, 2) == 127);
      CHECK(c.keys(0, h, 2 + i, 0) == static_cast<int>(std::nearbyint(c.new_keys(0, h, i, 0) / scale)));
      CHECK(c.values(0, h, 2 + i, 3) == -127);
    }
  CHECK(c.key_scales(1, 0, 0) == 0);
  CHECK(c.keys(1, 0, 0, 0) == 0);
  CHECK(std::isnan(c.key_scales(1, 0, 1))); // that key is NaN, as it was
}

TEST_CASE("append: int8 with a scale for each head") {
  contiguous<std::int8_t> c;
  tensor<float, kv_head<>> scales(2);
  c.cache.key_scale = c.cache.value_scale = scales;
  c.refuses(error_code::bad_number, "tensor key_scale: kv_head 0 has the scale 0");
  scales(0) = 0.5f, scales(1) = 1e-3f;
  c.new_keys(0, 0, 0, 0) = 1.25f; // a tie: 2.5 becomes 2
  append(c.cache, c.new_keys, c.new_values);
  CHECK(c.keys(0, 0, 2, 0) == 2);
  CHECK(c.keys(0, 1, 2, 0) == 127);
  CHECK(c.values(0, 1, 2, 0) == -127);
  c.lengths(0) = 0;
  c.new_values(1, 1, 2, 3) = std::numeric_limits<float>::infinity();
  c.lengths(1) = 0;
  c.refuses(error_code::bad_number, "tensor new_value: batch 1, kv_head 1, query 2 holds a number that is not finite");
}

TEST_CASE("append: floats of 8 and 16 bits, from f32 and bf16") {
  contiguous<f8_e4m3_t> c;
  c.new_keys(0, 0, 0, 0) = 1000;
  append(c.cache, c.new_keys, c.new_values);
  CHECK(static_cast<float>(c.keys(0, 0, 2, 0)) == 448);
  CHECK(same_bits(c.keys(1, 1, 2, 2), f8_e4m3_t(c.new_keys(1, 1, 2, 2))));
  contiguous<bf16_t> b;
  tensor<bf16_t, batch<>, kv_head<>, query<>, head_dim<>> keys(2, 2, 1, 3);
  tensor<bf16_t, batch<>, kv_head<>, query<>, value_dim<>> values(2, 2, 1, 4);
  keys(0, 1, 0, 2) = bf16_t(3.0f);
  append(b.cache, keys, values);
  CHECK(static_cast<float>(b.keys(0, 1, 2, 2)) == 3);
}

TEST_CASE("append: wrong axes, elements, extents and overlap are refused as in a call") {
  contiguous<float> c;
  SECTION("element") {
    c.cache.value.element = element_type::f16;
    c.refuses(error_code::wrong_element, "append: tensor value: expected f32 elements, got f16");
  }
  SECTION("features") {
    c.cache.key.extent[3] = 2;
    c.refuses(error_code::wrong_extent, "append: tensor new_key: axis head_dim: expected 2 (as in tensor key), got 3");
  }
  SECTION("read-only") {
    c.cache.key = c.keys.read();
    c.refuses(error_code::not_writable, "tensor key");
  }
  SECTION("overlap") {
    c.cache.value.data = c.new_values.data();
    c.refuses(error_code::overlap, "tensor value is written and shares memory with tensor new_value");
  }
  SECTION("a page table, and keys that are in no pages") {
    tensor<std::int32_t, batch<>, sequence_page<>> table(2, 3);
    c.cache.page_table = table;
    c.refuses(error_code::wrong_axis, "tensor key has no axis batch. Its axes are [page, kv_head, slot, head_dim]");
  }
  SECTION("length") {
    c.lengths(1) = -1;
    c.refuses(error_code::bad_lengths, "batch 1 has length -1");
  }
}

TEST_CASE("append: through a page table") {
  tensor<float, page<>, kv_head<>, slot<>, head_dim<>> keys(6, 1, 2, 1);
  tensor<float, page<>, kv_head<>, slot<>, value_dim<>> values(6, 1, 2, 1);
  tensor<std::int32_t, batch<>> lengths(2);
  tensor<std::int32_t, batch<>, sequence_page<>> table(2, 3);
  tensor<float, batch<>, kv_head<>, query<>, head_dim<>> new_keys(2, 1, 3, 1);
  tensor<float, batch<>, kv_head<>, query<>, value_dim<>> new_values(2, 1, 3, 1);
  const std::int32_t pages[] = {4, 1, 5, 0, 3, -1};
  std::copy(pages, pages + 6, table.begin());
  for (int i = 0; i < 6; ++i) new_keys.data()[i] = static_cast<float>(i + 1), new_values.data()[i] = static_cast<float>(-i - 1);
  lengths(0) = 1;
  kv_cache cache;
  cache.key = keys, cache.value = values, cache.key_lengths = lengths, cache.page_table = table;
  append(cache, new_keys, new_values);
  const std::vector<float> expected{4, 5, /* page 1 */ 2, 3, 0, 0, /* page 3 */ 6, 0, /* page 4 */ 0, 1, 0, 0};
  CHECK(std::vector<float>(keys.begin(), keys.end()) == expected);
  CHECK(values(4, 0, 1, 0) == -1);
  CHECK(lengths(0) == 4);
  const auto refuses = [&](error_code code, const std::string &part) {
    const std::vector<float> before(keys.begin(), keys.end());
    const status s = try_append(cache, new_keys, new_values);
    CHECK(std::string(name_of(s.code)) == name_of(code));
    CHECK_THAT(s.message(), Contains(part));
    CHECK(std::vector<float>(keys.begin(), keys.end()) == before);
  };
  refuses(error_code::bad_lengths, "batch 0 holds 4 keys and gets 3 more, but there is room for 6. Give the cache more pages");
  lengths(0) = 3;
  refuses(error_code::bad_page, "batch 1, sequence_page 2 holds page -1, expected 0 to 5");
  table(1, 2) = 5;
  refuses(error_code::overlap, "page 5 would be written for batch 0 and for batch 1");
}

// Which kernel a call takes: the first whose limits hold for its numbers of queries and keys.
#include "dsl/call_lengths.hpp"
#include "fake_library.hpp"
#include "runtime/dispatch.hpp"
#include <catch2/catch.hpp>
#include <climits>
#include <vector>

using namespace attune;
using namespace attune::axes;

namespace {
constexpr numbers with_heads(int heads, int kv_heads) {
  numbers n{};
  n.heads = heads, n.kv_heads = kv_heads;
  return n;
}

const artefact_variant &variant() { return *choose_variant(artefact<fake::by_length>::info(), std::nullopt).variant; }

/// The place of the kernel that a call with two batch elements runs; -1 for a call that runs none.
int kernel_of_call(int queries, int keys) {
  fake::forget();
  tensor<float, batch<>, head<4>, query<>, head_dim<3>> q(2, queries);
  tensor<float, batch<>, kv_head<2>, key<>, head_dim<3>> k(2, keys);
  tensor<float, batch<>, kv_head<2>, key<>, value_dim<2>> v(2, keys);
  tensor<float, batch<>, head<4>, query<>, value_dim<2>> out(2, queries);
  const status s = kernel<fake::by_length>{}.try_call(q, k, v, out);
  INFO(s.message());
  REQUIRE(s);
  const fake::recording r = fake::last();
  return r.calls == 1 ? r.kernel : -1;
}
} // namespace

TEST_CASE("decoding: at most 8 rows of query heads that share a key and value head, and at least one query") {
  CHECK(decode_queries(with_heads(12, 12)) == 8);
  CHECK(decode_queries(with_heads(8, 4)) == 4);
  CHECK(decode_queries(with_heads(32, 8)) == 2);
  CHECK(decode_queries(with_heads(6, 2)) == 2);
  CHECK(decode_queries(with_heads(8, 1)) == 1);
  CHECK(decode_queries(with_heads(71, 1)) == 1);
}

TEST_CASE("layers and self-attention have no decoding calls") {
  CHECK(buckets_of(fakes::plain_numbers()).count == 4);
  numbers self = fakes::plain_numbers();
  self.same_extents = true;
  for (const numbers &n : {self, fakes::layer_numbers(), fakes::crossed_numbers()}) {
    CHECK_FALSE(has_decode(n));
    const length_buckets buckets = buckets_of(n);
    CHECK(std::vector<length_bucket>(buckets.begin(), buckets.end()) == std::vector{length_bucket::prefill_short, length_bucket::prefill_long});
    CHECK(bucket_of(n, 1, 1) == length_bucket::prefill_short);
    CHECK(bucket_of(n, 513, 513) == length_bucket::prefill_long);
  }
}

TEST_CASE("a bucket's name finds it") {
  for (const length_bucket b : buckets_of(fakes::plain_numbers())) CHECK(find_length_bucket(name_of(b)) == b);
  CHECK_FALSE(find_length_bucket("decode"));
}

TEST_CASE("a call runs the kernel of its bucket, at each limit and past it") {
  for (const int queries : {1, 3, 4, 5, 6, 300})
    for (const int keys : {1, 2, 511, 512, 513, 600}) {
      INFO(queries << " queries, " << keys << " keys");
      const int expected = (queries <= 4 ? 0 : 2) + (keys <= 512 ? 0 : 1);
      CHECK(kernel_of_call(queries, keys) == expected);
      CHECK(bucket_of(artefact<fake::by_length>::n, queries, keys) == static_cast<length_bucket>(expected));
    }
}

TEST_CASE("a call without queries or keys runs no kernel") {
  CHECK(kernel_of_call(0, 5) == -1);
  CHECK(kernel_of_call(5, 0) == -1);
}

TEST_CASE("the first kernel whose limits hold is taken, whatever their number") {
  const artefact_kernel &longest = choose_kernel(variant(), std::int64_t{INT_MAX}, std::int64_t{INT_MAX});
  CHECK(&longest == &variant().kernels[3]);
  artefact_variant fewer = variant();
  fewer.kernels += 1, fewer.kernel_count = 3; // as where both decoding buckets share a kernel
  CHECK(&choose_kernel(fewer, 4, 1) == &fewer.kernels[0]);
  CHECK(&choose_kernel(fewer, 4, 513) == &fewer.kernels[0]);
  CHECK(&choose_kernel(fewer, 5, 512) == &fewer.kernels[1]);
  CHECK(&choose_kernel(fewer, 5, 513) == &fewer.kernels[2]);
  fewer.kernels += 2, fewer.kernel_count = 1;
  CHECK(&choose_kernel(fewer, 1, 1) == &fewer.kernels[0]);
}

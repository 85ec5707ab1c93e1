// Products over pairs of bf16, against the reference on the same bf16 inputs. Dot products are exact to f32, so that what log-sum-exp
// is off by comes from weights that are cut to bf16: small for each row, and without bias on the average over many.
#include "tests/support/pinned_kernel.hpp"
#include <algorithm>
#include <cmath>

using namespace attune;

namespace {

struct full { static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<64>, element<bf16>, returns<lse>); };
struct trimmed {
  static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<64>, element<bf16>, causal<align::bottom_right>, sliding_window<150>, key_lengths, returns<lse>);
};

/// The default of both families, and a point with several strips and chunks to a tile.
template <class Spec> std::vector<pinned_kernel> kernels() {
  const operator_description op = describe<Spec>();
  if (info_of(target_under_test()).tile_bf16)
    return compile_kernels(op, {point_of("tiles", op), point_of("tiles", op, {{"query_tile", 32}, {"key_chunk", 256}, {"query_vectors", 1}, {"dot_keys", 16}})});
  return compile_kernels(op, {point_of("chunk", op), point_of("row_tile", op),
                              point_of("chunk", op, {{"query_tile", 32}, {"key_chunk", 256}, {"query_vectors", 1}, {"dot_keys", 8}, {"key_block", 16}, {"row_group", 4}})});
}

} // namespace

TEST_CASE("pairs of bf16: the total of cut weights is right on the average, and near it in each row") {
  for (const pinned_kernel &kernel : kernels<full>())
    for (const double factor : {1.0, 3.0}) { // scores of deviation 1, and 3
      pinned_call<full> call(*kernel, shape(1, 300, 500));
      check_tensor &query = call.tensor("query");
      query.for_each([&](const auto &at) { query.set(at, factor * query.get(at)); });
      call.must_agree();
      const scalar_tensor want = call.reference().lse, got = call.tensor("lse").values();
      double mean = 0, largest = 0;
      for (std::size_t i = 0; i < want.values.size(); ++i) {
        const double error = std::expm1(got.values[i] - want.values[i]); // of the total, relative
        mean += error / static_cast<double>(want.values.size());
        largest = std::max(largest, std::abs(error));
      }
      INFO(kernel->info().variants->kernels->schedule << ", scores of deviation " << factor << ": mean " << mean << ", largest " << largest);
      CHECK(std::abs(mean) < 5e-4);
      CHECK(largest < 0x1p-7); // what cutting takes from a weight, at most
    }
}

TEST_CASE("pairs of bf16: outputs do not shrink") { // a value of ones is an average of ones, whatever was cut
  for (const pinned_kernel &kernel : kernels<full>()) {
    pinned_call<full> call(*kernel, shape(1, 70, 333));
    call.tensor("value").fill([](auto) { return 1.0; });
    call.must_run();
    long other = 0;
    call.tensor("output").for_each([&](const auto &at) { other += call.tensor("output").get(at) != 1; });
    INFO(kernel->info().variants->kernels->schedule);
    CHECK(other == 0);
  }
}

TEST_CASE("pairs of bf16: masked calls of odd lengths agree with the reference") {
  for (const pinned_kernel &kernel : kernels<trimmed>())
    for (const auto &[queries, keys] : {std::pair{1, 1}, {2, 3}, {63, 65}, {129, 257}, {70, 511}, {97, 31}}) {
      pinned_call<trimmed> call(*kernel, shape(3, queries, keys));
      set_lengths(call, {keys, keys / 2, 0});
      INFO(queries << " queries, " << keys << " keys");
      call.must_agree();
    }
}

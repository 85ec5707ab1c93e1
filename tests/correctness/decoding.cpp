// The decode family with several chunks of keys: scores of any size, rows and chunks without keys, what is returned beside the
// output, numbers of a call, and the same bits whatever the threads and the batch.
#include "tests/specs/variants.hpp"
#include "tests/support/pinned_kernel.hpp"
#include <cmath>
#include <limits>

using namespace attune;
using Catch::WithinAbs;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct pairs {
  static constexpr auto spec = attention(heads<8>, kv_heads<2>, head_dim<64>, element<bf16>, causal<align::bottom_right>, key_lengths, returns<lse>);
};

/// Chunks of 128 keys: 300 are three.
template <class Spec> pinned_kernel decode() {
  const operator_description op = describe<Spec>();
  return compile_kernel(op, point_of("decode", op, {{"key_chunk", 128}}));
}

template <class Call> void require_empty_row(const Call &call, int head, int query, int value_dim) {
  for (int d = 0; d < value_dim; ++d) CHECK(call.tensor("output").bits({0, head, query, d}) == 0);
  CHECK(call.tensor("lse").get({0, head, query}) == -infinity);
}

template <class Spec> void agrees(const std::vector<std::pair<int, int>> &lengths) {
  const pinned_kernel kernel = decode<Spec>();
  for (const auto &[queries, keys] : lengths) {
    INFO(queries << " queries, " << keys << " keys");
    for (const memory_order order : {memory_order::bhsd, memory_order::strided}) pinned_call<Spec>(*kernel, shape(2, queries, keys, order)).must_agree();
  }
}

template <class Spec> void same_bits_for_any_threads_and_batch(int queries, int keys) {
  const pinned_kernel kernel = decode<Spec>();
  pinned_call<Spec> three(*kernel, shape(3, queries, keys)), one(*kernel, shape(1, queries, keys));
  three.must_run(1);
  const auto bits = three.tensor("output").all_bits();
  for (const int threads : {2, 3, 8}) {
    INFO(threads << " threads");
    three.must_run(threads);
    CHECK(three.tensor("output").all_bits() == bits);
  }
  for (const int batch : {0, 1, 2}) {
    const signature s = refer<Spec>().call();
    for (int i = 0; i < s.tensor_count; ++i) {
      if (s.tensors[i].written) continue;
      check_tensor &to = one.tensor(s.tensors[i].name), &from = three.tensor(s.tensors[i].name);
      const bool has_batch = s.tensors[i].axes[0].axis == axis_name::batch;
      to.for_each([&](auto at) {
        const auto here = at;
        if (has_batch) at[0] = batch;
        to.set(here, from.get(at));
      });
    }
    one.must_run(1 + batch % 2);
    long other = 0;
    one.tensor("output").for_each([&](auto at) {
      const std::uint32_t alone = one.tensor("output").bits(at);
      at[0] = batch;
      if (three.tensor("output").bits(at) != alone) ++other;
    });
    INFO("batch " << batch << " by itself");
    CHECK(other == 0);
  }
}

} // namespace

TEST_CASE("decode: scores that are equal and hugely negative average equally over chunks") {
  const pinned_kernel kernel = decode<variants::biased>();
  for (const double level : {0.0, -1e3, -5e5, -1e29, -1e30, -3.4e38}) {
    INFO("level " << level);
    pinned_call<variants::biased> call(*kernel, shape(1, 5, 300));
    call.tensor("query").fill([](auto) { return 0.0; });
    call.tensor("additive_mask").fill([&](auto) { return level; });
    call.must_agree();
    for (int d = 0; d < 8; ++d) {
      double mean = 0;
      for (int k = 0; k < 300; ++k) mean += call.tensor("value").get({0, 0, k, d}) / 300;
      CHECK_THAT(call.tensor("output").get({0, 0, 4, d}), WithinAbs(mean, 4e-6));
    }
  }
}

TEST_CASE("decode: one score that stands out of hugely negative ones, in any chunk") {
  const pinned_kernel kernel = decode<variants::biased>();
  for (const int spike : {0, 127, 128, 299}) {
    pinned_call<variants::biased> call(*kernel, shape(1, 2, 300));
    call.tensor("query").fill([](auto) { return 0.0; });
    call.tensor("additive_mask").for_each([&](const auto &at) { call.tensor("additive_mask").set(at, at[1] == spike ? -5e5 + 200 : -5e5); });
    call.must_run();
    for (int d = 0; d < 8; ++d) CHECK(call.tensor("output").get({0, 0, 1, d}) == call.tensor("value").get({0, 0, spike, d}));
    CHECK_THAT(call.tensor("lse").get({0, 0, 1}), WithinAbs(-5e5 + 200, 1));
  }
}

TEST_CASE("decode: rows without keys are exactly 0 and -inf") {
  const pinned_kernel kernel = decode<variants::causal_lengths>();
  pinned_call<variants::causal_lengths> more_queries(*kernel, shape(1, 6, 4));
  more_queries.must_agree();
  for (int q = 0; q < 2; ++q) require_empty_row(more_queries, 1, q, 32);
  pinned_call<variants::causal_lengths> no_length(*kernel, shape(1, 3, 300));
  set_lengths(no_length, {0});
  no_length.must_agree();
  require_empty_row(no_length, 0, 2, 32);
  pinned_call<variants::causal_lengths> no_keys(*kernel, shape(1, 3, 0));
  no_keys.must_agree();
  require_empty_row(no_keys, 0, 2, 32);
}

TEST_CASE("decode: chunks that are masked as a whole, for one row and for all, beside chunks that are not") {
  const pinned_kernel kernel = decode<variants::finite_masked>();
  for (int hidden = 0; hidden < 8; ++hidden) { // one bit for each of three chunks
    INFO("hidden chunks " << hidden);
    pinned_call<variants::finite_masked> call(*kernel, shape(2, 4, 300));
    check_tensor &mask = call.tensor("boolean_mask");
    mask.for_each([&](const auto &at) {
      const bool all_rows = hidden >> (at[2] / 128) & 1, row_1 = at[1] == 1 && at[2] / 128 == 1;
      mask.set(at, !all_rows && !row_1);
    });
    call.must_agree();
    if (hidden == 5) require_empty_row(call, 1, 1, 32);
    if (hidden == 7) require_empty_row(call, 1, 3, 32);
  }
}

TEST_CASE("decode: log-sum-exp and attention weights") {
  const std::vector<std::pair<int, int>> lengths{{1, 1}, {8, 127}, {3, 128}, {5, 300}, {5, 3}, {2, 0}, {4, 1100}};
  agrees<variants::with_weights>(lengths);
  agrees<variants::bf16_weights>(lengths);
  agrees<variants::all_masks>(lengths);
  agrees<pairs>(lengths);
}

TEST_CASE("decode: scale, softcap and window of a call") {
  const pinned_kernel kernel = decode<variants::all_at_call>();
  for (const double scale : {0.0, 0.05, 0.3})
    for (const double cap : {0.5, 50.0})
      for (const double window : {0.0, 40.0, 200.0, 1050.0, 2147483647.0}) {
        INFO("scale " << scale << ", softcap " << cap << ", window " << window);
        pinned_call<variants::all_at_call> call(*kernel, shape(1, 7, 1100));
        call.number(number_role::scale) = static_cast<float>(scale);
        call.number(number_role::softcap) = cap;
        call.number(number_role::window) = window;
        call.must_agree();
      }
}

TEST_CASE("decode: the same bits for any number of threads and in any batch") {
  same_bits_for_any_threads_and_batch<variants::mqa>(1, 1100);
  same_bits_for_any_threads_and_batch<variants::all_masks>(5, 300);
  same_bits_for_any_threads_and_batch<pairs>(2, 1100);
}

// The same inputs on the same target give the same bits: whatever the number of threads, whatever else is in the batch, and
// when many threads call at once.
#include "layer_kernels_under_test.hpp"
#include "variant_kernels_under_test.hpp"
#include "tests/support/target_under_test.hpp"
#include <atomic>
#include <thread>

using namespace attune;

namespace {

check_case shape(int batch, int queries, int keys, memory_order order = memory_order::bhsd) {
  check_case c;
  c.batch = batch, c.queries = queries, c.keys = keys, c.order = order;
  return c;
}

template <class Spec> void same_for_any_thread_count(int queries, int keys) {
  kernel_call<Spec> call(shape(3, queries, keys));
  call.must_run(1);
  const auto alone = call.tensor("output").all_bits();
  for (int threads : {2, 3, 5, 8}) {
    INFO(threads << " threads");
    call.must_run(threads);
    CHECK(call.tensor("output").all_bits() == alone);
  }
}

/// Batch 1 of three by itself gives the bits that it gives among the three.
template <class Spec> void same_alone_and_in_a_batch(int queries, int keys, memory_order order) {
  kernel_call<Spec> three(shape(3, queries, keys, order)), one(shape(1, queries, keys));
  const signature s = refer<Spec>().call();
  for (int i = 0; i < s.tensor_count; ++i) {
    if (s.tensors[i].written || s.tensors[i].role == tensor_role::packed_weights) continue;
    check_tensor &to = one.tensor(s.tensors[i].name), &from = three.tensor(s.tensors[i].name);
    const bool has_batch = s.tensors[i].rank > 0 && s.tensors[i].axes[0].axis == axis_name::batch;
    to.for_each([&](auto at) {
      const auto here = at;
      if (has_batch) at[0] = 1;
      to.set(here, from.get(at));
    });
  }
  three.must_run();
  one.must_run();
  check_tensor &all = three.tensor("output"), &alone = one.tensor("output");
  alone.for_each([&](auto at) {
    const auto bits = alone.bits(at);
    at[0] = 1;
    CHECK(all.bits(at) == bits);
  });
}

template <class Spec> void same_from_many_threads(int queries, int keys) {
  kernel_call<Spec> first(shape(2, queries, keys));
  first.must_run(1);
  const auto expected = first.tensor("output").all_bits();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 8; ++t)
    callers.emplace_back([&, t] {
      kernel_call<Spec> mine(shape(2, queries, keys));
      for (int round = 0; round < 20; ++round)
        if (!mine.run(1 + t % 3) || mine.tensor("output").all_bits() != expected) ++wrong;
    });
  for (std::thread &t : callers) t.join();
  CHECK(wrong == 0);
}

} // namespace

TEST_CASE("any number of threads gives the same bits") {
  same_for_any_thread_count<variants::plain>(70, 300);
  same_for_any_thread_count<variants::plain>(1, 1100);
  same_for_any_thread_count<variants::gqa_causal>(130, 130);
  same_for_any_thread_count<variants::bf16_gqa>(70, 70);
  same_for_any_thread_count<variants::all_masks>(67, 131);
  same_for_any_thread_count<layers::layer_f32>(41, 41);
  same_for_any_thread_count<layers::layer_bf16>(41, 41);
}

TEST_CASE("any batch composition gives the same bits") {
  for (memory_order order : {memory_order::bhsd, memory_order::bshd}) {
    same_alone_and_in_a_batch<variants::plain>(70, 300, order);
    same_alone_and_in_a_batch<variants::gqa_causal>(33, 130, order);
    same_alone_and_in_a_batch<variants::bf16_gqa>(33, 70, order);
    same_alone_and_in_a_batch<variants::lengths>(33, 70, order);
    same_alone_and_in_a_batch<variants::all_masks>(67, 131, order);
    same_alone_and_in_a_batch<layers::layer_f32>(41, 41, order);
    same_alone_and_in_a_batch<layers::layer_bf16>(19, 19, order);
    same_alone_and_in_a_batch<layers::cross_layer>(19, 40, order);
  }
}

TEST_CASE("eight threads that call at once each get the same bits") {
  same_from_many_threads<variants::plain>(33, 70);
  same_from_many_threads<variants::all_masks>(33, 70);
  same_from_many_threads<layers::layer_f32>(17, 17);
}

// Decoding with a KV cache: what is appended step by step and read back gives what attention over all keys gives. The cache is written by
// runtime/cache.hpp in the tensors of checked calls, read by the kernels, and compared twice: with the reference that reads the
// same codes, and with the one that reads the numbers before they were stored.
#include "cache_kernels_under_test.hpp"
#include "runtime/cache.hpp"
#include "tests/support/target_under_test.hpp"
#include <cstring>
#include <numeric>

using namespace attune;

namespace {

tensor_ref reference_to(check_tensor &t, bool writable) {
  tensor_ref r;
  r.data = t.data(), r.element = t.shape().element, r.writable = writable, r.rank = t.shape().rank;
  for (int a = 0; a < r.rank; ++a) r.axes[a] = t.shape().axes[a].axis, r.extent[a] = t.extents()[a], r.stride[a] = t.strides()[a];
  return r;
}

/// The cache of a spec for two batches, in the tensors of its checked calls; beside it, every key and value as it was before.
template <class Spec> class session {
public:
  session(int capacity, memory_order order) : capacity_(capacity), order_(order), op_(refer<Spec>()), held_(call_of(1)) {
    const numbers &n = op_.n;
    keys_ = scalar_tensor({2, n.kv_heads, keys_of(), n.head_dim});
    values_ = scalar_tensor({2, n.kv_heads, keys_of(), n.value_dim});
    held_.tensor("key_lengths").fill([](auto) { return 0.0; });
    if (is_paged(n)) { // both batches' pages, one after the other in turn
      const std::int64_t pages = held_.tensor("key").extents()[0];
      held_.tensor("page_table").fill([&](auto place) { return static_cast<double>((place * 3 + 1) % static_cast<std::uint64_t>(pages % 3 ? pages : pages - 1)); });
    }
    if (n.cache.scale != kv_scaling::off)
      for (const char *name : {"key_scale", "value_scale"}) held_.tensor(name).fill([&](auto) { return n.cache.element == element_type::int8 ? 6.0 / 127 : 0.25; });
  }

  /// Appends `more` keys (to each batch the last of them that `counts` says) and attends to them with as many queries; the error
  /// against numbers that were never stored stays within `bound` x max|V|.
  void step(int more, const std::vector<int> &counts, double bound) {
    append_tokens(more, counts);
    check(more, bound);
  }

  void append_tokens(int more, const std::vector<int> &counts) {
    const numbers &n = op_.n;
    tensor<float, axes::batch<>, axes::kv_head<>, axes::query<>, axes::head_dim<>> k(2, n.kv_heads, more, n.head_dim);
    tensor<float, axes::batch<>, axes::kv_head<>, axes::query<>, axes::value_dim<>> v(2, n.kv_heads, more, n.value_dim);
    tensor<std::int32_t, axes::batch<>> each(2);
    std::uint64_t number = 0;
    for (float &x : k) x = static_cast<float>(normal_value(10 + seed_, number++));
    for (float &x : v) x = static_cast<float>(normal_value(1000 + seed_, number++));
    ++seed_;
    for (int b = 0; b < 2; ++b) {
      each(b) = counts[b];
      for (int i = 0; i < counts[b]; ++i)
        for (int h = 0; h < n.kv_heads; ++h) {
          for (int d = 0; d < n.head_dim; ++d) keys_({b, h, lengths_[b] + i, d}) = k(b, h, more - counts[b] + i, d);
          for (int d = 0; d < n.value_dim; ++d) values_({b, h, lengths_[b] + i, d}) = v(b, h, more - counts[b] + i, d);
        }
      lengths_[b] += counts[b];
    }
    const status ended = try_append(cache(), k, v, each);
    INFO(ended.message());
    REQUIRE(ended);
    for (int b = 0; b < 2; ++b) REQUIRE(static_cast<std::int64_t>(held_.tensor("key_lengths").get({b})) == lengths_[b]);
  }

  void check(int queries, double bound) {
    kernel_call<Spec> call = call_of(queries);
    for (const char *name : {"key", "value", "key_lengths", "key_scale", "value_scale", "page_table"}) copy(name, call);
    INFO(queries << " queries, lengths " << lengths_[0] << " and " << lengths_[1]);
    call.must_agree();
    reference_arguments before = call.arguments();
    reference_operator plain = op_;
    plain.n.cache = {};
    before.key = keys_, before.value = values_;
    const reference_answer expected = evaluate_reference(plain, before);
    double worst = 0;
    std::size_t n = 0;
    call.tensor("output").for_each([&](const auto &at) { worst = std::max(worst, std::abs(call.output(at) - expected.output.values[n++])); });
    CHECK(worst <= bound * expected.largest_value);
  }

private:
  int capacity_;
  memory_order order_;
  reference_operator op_;
  kernel_call<Spec> held_;
  scalar_tensor keys_, values_;
  std::int64_t lengths_[2] = {0, 0};
  std::uint64_t seed_ = 0;

  std::int64_t keys_of() const {
    const int page = op_.n.cache.page_size;
    return page == 0 ? capacity_ : (capacity_ + page - 1) / page * page;
  }
  kernel_call<Spec> call_of(int queries) const {
    check_case how;
    how.batch = 2, how.queries = queries, how.keys = capacity_, how.order = order_, how.seed = seed_ + 1;
    return kernel_call<Spec>(how);
  }
  bool has(std::string_view name) const {
    const signature s = op_.call();
    return std::any_of(s.tensors, s.tensors + s.tensor_count, [&](const tensor_shape &t) { return t.name == name; });
  }
  kv_cache cache() {
    kv_cache c;
    for (const auto &[to, name] : {std::pair{&c.key, "key"}, {&c.value, "value"}, {&c.key_lengths, "key_lengths"}, {&c.key_scale, "key_scale"}, {&c.value_scale, "value_scale"},
                                   {&c.page_table, "page_table"}})
      if (has(name)) *to = reference_to(held_.tensor(name), true);
    return c;
  }
  void copy(std::string_view name, check_call &to) {
    if (!has(name)) return;
    const check_tensor &from = held_.tensor(name);
    std::memcpy(to.tensor(name).data(), from.data(), from.memory().size());
  }
};

/// A prompt, longer for one batch than for the other; three tokens; a second prompt; a token that fills the cache of batch 0.
template <class Spec> void decodes(double bound) {
  for (const memory_order order : {memory_order::bhsd, memory_order::strided}) {
    session<Spec> s(48, order);
    s.step(21, {21, 13}, bound);
    for (int i = 0; i < 3; ++i) s.step(1, {1, 1}, bound);
    s.step(23, {23, 9}, bound);
    s.step(1, {1, 1}, bound);
  }
}

} // namespace

TEST_CASE("append and decode: int8 with a scale for each token") { decodes<caches::int8_tokens>(0x1p-6); }
TEST_CASE("append and decode: pages of f32") { decodes<caches::paged_f32>(2e-6); }
TEST_CASE("append and decode: pages of bf16") { decodes<caches::paged_bf16>(0x1p-6); }
TEST_CASE("append and decode: pages of e4m3 with a scale for each token") { decodes<caches::paged_e4m3>(0x1p-4); }

TEST_CASE("a fixed cache for cross-attention: written once, read by one query after the other") {
  session<caches::bf16_beside_f32> s(70, memory_order::bhsd);
  s.append_tokens(67, {67, 35});
  for (int step = 0; step < 3; ++step) s.check(1, 0x1p-7);
  s.check(19, 0x1p-7);
}

TEST_CASE("int8 with a scale for each head, e4m3 and e5m2 stay near what was stored") {
  session<caches::int8_heads> eighths(40, memory_order::bhsd);
  eighths.append_tokens(40, {40, 40});
  eighths.check(7, 0x1p-6);
  session<caches::e5m2_bare> wide(40, memory_order::bhsd);
  wide.append_tokens(40, {40, 33});
  wide.check(7, 0x1p-3); // two bits of fraction: relative errors of up to 2^-3
}

TEST_CASE("a NaN among codes or scales shows in the rows that attend to it, and in no other") {
  for (const int queries : {1, 30}) {
    check_case how;
    how.batch = 1, how.queries = queries, how.keys = 50;
    kernel_call<caches::e4m3_heads> code(how);
    code.tensor("key").set({0, 1, 30, 3}, std::numeric_limits<double>::quiet_NaN()); // causal: the rows before query 10 of 30 do not see key 30
    code.must_agree();
    kernel_call<caches::paged_int8> scale(how);
    const auto page = static_cast<std::int64_t>(scale.tensor("page_table").get({0, 4}));
    scale.tensor("value_scale").set({page, 0, 5}, std::numeric_limits<double>::quiet_NaN());
    scale.tensor("additive_mask").for_each([&](const auto &at) { // key 37 is masked for head 1, and not for heads 0 and 2
      if (at[1] == 37) scale.tensor("additive_mask").set(at, at[0] == 1 ? -std::numeric_limits<double>::infinity() : 0.5);
    });
    scale.must_agree();
  }
}

TEST_CASE("small pages where chunks of keys end: rows fetched ahead stay within what a batch has") {
  for (const int keys : {2047, 2065, 4096 + 16 + 1}) {
    check_case how;
    how.batch = 1, how.queries = 2, how.keys = keys;
    kernel_call<caches::paged_bf16>(how).must_agree();
  }
}

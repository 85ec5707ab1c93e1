// Keys split over several calls, and their results merged by log-sum-exp, give what one call over all keys gives.
#include "output_kernels_under_test.hpp"
#include "runtime/kernel.hpp"
#include "runtime/merge.hpp"
#include "tests/support/target_under_test.hpp"
#include <algorithm>
#include <cmath>

using namespace attune;
using namespace attune::axes;

namespace {

constexpr int batches = 2, query_heads = 4, kv_heads_of_spec = 2, dim = 32;

/// Results of one call over some of the keys.
template <class T> struct part {
  tensor<T, batch<>, head<query_heads>, query<>, axes::value_dim<dim>> output;
  tensor<float, batch<>, head<query_heads>, query<>> lse;
  explicit part(int queries) : output(batches, queries), lse(batches, queries) {}
};

template <class T, class... Dims> view<const T, Dims...> view_of(const check_tensor &t, std::int64_t first_key, std::int64_t keys) {
  const std::vector<std::int64_t> &e = t.extents(), &s = t.strides();
  const bool keyed = keys >= 0;
  return {static_cast<const T *>(t.data()) + (keyed ? first_key * s[2] : 0), {e[0], e[1], keyed ? keys : e[2], e[3]}, {s[0], s[1], s[2], s[3]}};
}

/// Calls the kernel for keys first .. end of the whole call, with the batches' lengths as far as they reach into them.
template <class Spec, class T> void run_part(const check_call &whole, int first, int end, part<T> &p) {
  std::int32_t lengths[batches];
  for (int b = 0; b < batches; ++b) lengths[b] = std::clamp(static_cast<int>(whole.tensor("key_lengths").get({b})) - first, 0, end - first);
  kernel<Spec>{}(view_of<T, batch<>, head<query_heads>, query<>, axes::head_dim<dim>>(whole.tensor("query"), 0, -1),
                 view_of<T, batch<>, kv_head<kv_heads_of_spec>, axes::key<>, axes::head_dim<dim>>(whole.tensor("key"), first, end - first),
                 view_of<T, batch<>, kv_head<kv_heads_of_spec>, axes::key<>, axes::value_dim<dim>>(whole.tensor("value"), first, end - first), p.output, p.lse,
                 view<const std::int32_t, batch<>>(lengths, batches), options_under_test());
}

/// The merged parts in the whole call's own outputs, against the reference over all keys.
template <class Spec, class T> void check_split(int queries, int keys, const std::vector<int> &lengths, const std::vector<int> &borders) {
  check_case how;
  how.batch = batches, how.queries = queries, how.keys = keys;
  kernel_call<Spec> whole(how);
  for (int b = 0; b < batches; ++b) whole.tensor("key_lengths").set({b}, lengths[b]);
  for (const char *name : {"key", "value"}) {
    check_tensor &t = whole.tensor(name);
    t.fill([](auto n) { return normal_value(7, n); });
  }
  std::vector<part<T>> parts;
  std::vector<partial_result> list;
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) parts.emplace_back(queries);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    run_part<Spec>(whole, borders[i], borders[i + 1], parts[i]);
    list.emplace_back(parts[i].output, parts[i].lse);
  }
  whole.must_run();
  CHECK(whole.differences(whole.reference()) == "");
  part<T> merged(queries);
  merge(list.data(), list.size(), merged.output, merged.lse);
  whole.tensor("output").for_each([&](const auto &at) { whole.tensor("output").set(at, static_cast<double>(static_cast<float>(merged.output(at[0], at[1], at[2], at[3])))); });
  whole.tensor("lse").for_each([&](const auto &at) { whole.tensor("lse").set(at, merged.lse(at[0], at[1], at[2])); });
  CHECK(whole.differences(whole.reference()) == "");
}

template <class Spec, class T> void check_splits(int queries) {
  INFO(queries << " queries");
  check_split<Spec, T>(queries, 150, {150, 70}, {0, 75, 150});
  check_split<Spec, T>(queries, 700, {700, 130}, {0, 64, 129, 130, 600, 700}); // the last two parts have no key of the second batch
  check_split<Spec, T>(queries, 40, {40, 0}, {0, 10, 40});                     // a batch without keys in every part
}

} // namespace

TEST_CASE("keys split over two and five calls give what one call gives") {
  for (int queries : {1, 37}) {
    check_splits<outputs::parts, float>(queries);
    check_splits<outputs::parts_bf16, bf16_t>(queries);
  }
}

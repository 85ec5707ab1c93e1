#include "bench/works.hpp"
#include "attune_bench_kernels/causal_12x64.hpp"
#include "attune_bench_kernels/causal_12x64_bf16.hpp"
#include "attune_bench_kernels/decode_12x64.hpp"
#include "attune_bench_kernels/decode_12x64_bf16.hpp"
#include "attune_bench_kernels/decode_32_8x128.hpp"
#include "attune_bench_kernels/decode_32_8x128_bf16.hpp"
#include "attune_bench_kernels/fixed_12x64.hpp"
#include "attune_bench_kernels/layer_768.hpp"
#include "attune_bench_kernels/layer_768_bf16.hpp"
#include "attune_bench_kernels/minilm_layer.hpp"
#include "attune_bench_kernels/prefill_12x128.hpp"
#include "attune_bench_kernels/prefill_12x64.hpp"
#include "attune_bench_kernels/prefill_12x64_bf16.hpp"
#include "attune_bench_kernels/run_time_12x64.hpp"
#include "attune_bench_kernels/window_12x64.hpp"
#include "bench/specs.hpp"
#include "bench/work_row.hpp"
#include "runtime/dispatch.hpp"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

// bench/emit_projections.cpp
extern "C" int attune_bench_projections_f32_argv(void **);
extern "C" int attune_bench_projections_bf16_argv(void **);
extern "C" int attune_bench_projections_bf16_amx_argv(void **);

namespace attune::bench {
namespace {

class work_list {
public:
  std::vector<work> all;

  /// Query and key extents are one: prefill, causal, window.
  template <class Spec> void add_self(const char *family, target_id target, const char *shape, std::initializer_list<int> lengths, bool compared) {
    for (int length : lengths) {
      work w = row<Spec>(family, target, shape, length, length);
      w.name += fmt::format("/{}", length);
      w.compared = compared;
      all.push_back(w);
    }
  }
  template <class Spec> void add_layers(target_id target, std::initializer_list<int> lengths) {
    for (int length : lengths) {
      work w = row<Spec>("layer", target, fmt::format("{}x{}", length, artefact<Spec>::n.model_dim).c_str(), length, length);
      w.compared = true;
      all.push_back(w);
    }
  }
  template <class Spec> void add_decode(target_id target, const char *shape, int keys) {
    work w = row<Spec>("decode", target, shape, 1, keys);
    w.name += fmt::format("/{}", keys);
    w.counts = measure::bytes;
    w.cold = w.compared = true;
    all.push_back(w);
  }
  /// `numbers`: what Fixed has written down and Spec leaves to the call, in the order of its signature.
  template <class Spec, class Fixed> void add_run_time(target_id target, const char *shape, std::initializer_list<int> lengths, const std::vector<double> &numbers) {
    for (int length : lengths) {
      work w = row<Spec>("run_time", target, shape, length, length);
      w.name += fmt::format("/{}", length);
      w.call_numbers = numbers;
      w.fixed = std::make_shared<const work>(row<Fixed>("fixed", target, shape, length, length));
      all.push_back(w);
    }
  }
  /// Scratch does not depend on the number of queries, which is kept small; every query reads all keys.
  template <class Spec> void add_scratch(target_id target, const char *shape, int queries, int keys) {
    work w = row<Spec>("scratch", target, shape, queries, keys);
    w.name += fmt::format("/{}", keys);
    w.counts = measure::scratch;
    all.push_back(w);
  }
  /// Each row from `first` on once more, on two threads.
  void repeat_on_two_threads(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      work w = all[i];
      w.name += "/t2", w.threads = 2;
      all.push_back(w);
    }
  }
};

/// The output projection of a layer, on `rows` tokens.
template <class Spec> work projection_row(target_id target, generated_function function, int rows) {
  constexpr numbers n = artefact<Spec>::n;
  work w = row<Spec>("gemm", target, fmt::format("{}x{}x{}", rows, n.heads * n.value_dim, n.output_dim).c_str(), rows, rows);
  w.projection = function;
  return w;
}

double pairs_of(const work &w, const numbers &n) {
  const double queries = w.queries, keys = w.keys;
  if (n.causal == causal_alignment::off) return queries * keys;
  if (n.window.kind == setting::at_call) return pairs_of(*w.fixed, w.fixed->info().n);
  if (n.window.kind == setting::off) return queries * (queries + 1) / 2;
  const double seen = std::min(queries, n.window.value + 1); // the first of them see fewer
  return seen * (seen + 1) / 2 + (queries - seen) * seen;
}

/// Elements of the weight matrices of a call; 0 without projections.
double weights_of(const work &w) {
  const numbers &n = w.info().n;
  if (!is_projected(n)) return 0;
  if (w.projection) return double(n.heads) * n.value_dim * n.output_dim;
  const double query = double(n.heads) * n.head_dim, key = double(n.kv_heads) * n.head_dim, value = double(n.kv_heads) * n.value_dim;
  return n.model_dim * (query + key + value) + double(n.heads) * n.value_dim * n.output_dim;
}

} // namespace

probe_kind work::probe() const {
  return counts == measure::bytes ? probe_kind::memory_read : compute_probe(target, info().n.element);
}

double work::operations() const {
  const numbers &n = info().n;
  const double attention = projection ? 0 : (n.head_dim + n.value_dim) * pairs_of(*this, n) * n.heads;
  return 2.0 * batch * (attention + queries * weights_of(*this));
}

double work::amount() const {
  const numbers &n = info().n;
  if (counts != measure::bytes) return operations();
  return double(batch) * n.kv_heads * keys * (n.head_dim + n.value_dim) * static_cast<double>(size_of(cache_element(n)));
}

std::size_t work::copies() const {
  const double enough = std::ceil(static_cast<double>(cold_bytes()) / amount());
  return cold ? std::max<std::size_t>(3, static_cast<std::size_t>(enough)) : 1;
}

double work::least_bytes() const {
  const numbers &n = info().n;
  const double queries_in = is_projected(n) ? n.model_dim : double(n.heads) * n.head_dim, out = n.output_dim > 0 ? n.output_dim : double(n.heads) * n.value_dim;
  const double elements = queries * (queries_in + out) + weights_of(*this) / batch;
  const double cached = is_projected(n) ? 0 : double(n.kv_heads) * keys * (n.head_dim + n.value_dim);
  return batch * (elements * static_cast<double>(size_of(n.element)) + cached * static_cast<double>(size_of(cache_element(n))));
}

std::string work::why_not() const {
  for (const target_report &report : targets(info())) {
    if (report.target != target) continue;
    if (!report.in_build) return fmt::format("this build has no code of {} for {}", info().spec, info_of(target).name);
    if (!report.runs_here) return report.why_not;
  }
  if (static_cast<int>(usable_cores().size()) < threads) return fmt::format("it needs {} CPUs, and this process may use {}", threads, usable_cores().size());
  return "";
}

std::vector<work> all_works() {
  work_list list;
  constexpr target_id avx2 = target_id::avx2, avx512 = target_id::avx512, avx512_bf16 = target_id::avx512_bf16, avx512_amx = target_id::avx512_amx;
  list.add_self<prefill_12x64>("prefill", avx512, "12x64", {512, 1024, 4096}, true);
  list.add_self<prefill_12x128>("prefill", avx512, "12x128", {1024, 4096}, true);
  list.add_self<causal_12x64>("causal", avx512, "12x64", {512, 1024, 4096}, true);
  list.add_self<prefill_12x64_bf16>("prefill", avx512_bf16, "12x64", {512, 1024, 4096}, true);
  list.add_self<causal_12x64_bf16>("causal", avx512_bf16, "12x64", {512, 1024, 4096}, true);
  list.add_layers<layer_768>(avx512, {128, 256, 512, 1024});
  list.add_layers<layer_768_bf16>(avx512_bf16, {128, 256, 512, 1024});
  list.add_decode<decode_32_8x128>(avx512, "32:8x128", 16384);
  list.add_decode<decode_32_8x128_bf16>(avx512_bf16, "32:8x128", 16384);
  list.add_decode<decode_12x64>(avx512, "12:12x64", 16384);
  list.add_decode<decode_12x64_bf16>(avx512_bf16, "12:12x64", 16384);
  list.add_self<prefill_12x64_bf16>("prefill", avx512_amx, "12x64", {512, 1024, 4096}, true);
  list.add_self<causal_12x64_bf16>("causal", avx512_amx, "12x64", {512, 1024, 4096}, true);
  list.add_layers<layer_768_bf16>(avx512_amx, {128, 256, 512, 1024});
  list.add_decode<decode_32_8x128_bf16>(avx512_amx, "32:8x128", 16384);
  list.add_decode<decode_12x64_bf16>(avx512_amx, "12:12x64", 16384);
  list.repeat_on_two_threads(0, list.all.size());
  list.add_self<prefill_12x64>("prefill", avx2, "12x64", {512, 1024, 4096}, false);
  list.all.push_back(projection_row<layer_768>(avx512, attune_bench_projections_f32_argv, 1024));
  list.all.push_back(projection_row<layer_768_bf16>(avx512_bf16, attune_bench_projections_bf16_argv, 1024));
  list.all.push_back(projection_row<layer_768_bf16>(avx512_amx, attune_bench_projections_bf16_amx_argv, 1024));

  list.all.push_back(row<minilm_layer>("minilm", avx512, "8x32", 32, 32));
  list.all.back().batch = 8, list.all.back().compared = true;
  const std::size_t windows = list.all.size();
  list.add_self<window_12x64>("window", avx512, "12x64", {16384, 131072}, false);
  for (std::size_t i = windows; i < list.all.size(); ++i) list.all[i].counts = measure::time_per_query;
  list.add_run_time<run_time_12x64, fixed_12x64>(avx512, "12x64", {1024, 4096}, {1.0 / 8, 50, 1024});
  list.add_scratch<decode_12x64>(avx512, "12x64", 64, 131072);
  list.add_scratch<decode_12x64_bf16>(avx512_bf16, "12x64", 64, 131072);
  list.add_scratch<decode_12x64_bf16>(avx512_amx, "12x64", 64, 131072);
  list.add_scratch<decode_32_8x128>(avx512, "32:8x128", 1, 131072);
  for (work &w : cache_works()) list.all.push_back(std::move(w));
  return list.all;
}

} // namespace attune::bench

// Rows for docs/language.md: what the form of a cache and rotary embedding cost. None is compared with peers.
#include "attune_bench_cache_kernels/cache_12x64_bf16.hpp"
#include "attune_bench_cache_kernels/cache_12x64_int8.hpp"
#include "attune_bench_cache_kernels/cache_bf16.hpp"
#include "attune_bench_cache_kernels/cache_bf16_paged.hpp"
#include "attune_bench_cache_kernels/cache_e4m3.hpp"
#include "attune_bench_cache_kernels/cache_e5m2.hpp"
#include "attune_bench_cache_kernels/cache_f32.hpp"
#include "attune_bench_cache_kernels/cache_f32_paged.hpp"
#include "attune_bench_cache_kernels/cache_int8_heads.hpp"
#include "attune_bench_cache_kernels/cache_int8_paged.hpp"
#include "attune_bench_cache_kernels/cache_int8_tokens.hpp"
#include "attune_bench_cache_kernels/cache_prefill_paged.hpp"
#include "attune_bench_cache_kernels/rope_12x64.hpp"
#include "attune_bench_cache_kernels/rope_12x64_bf16.hpp"
#include "attune_bench_cache_kernels/rope_decode.hpp"
#include "attune_bench_cache_kernels/rope_decode_rotated.hpp"
#include "attune_bench_cache_kernels/rope_layer_768.hpp"
#include "bench/cache_specs.hpp"
#include "bench/work_row.hpp"

namespace attune::bench {
namespace {

/// Named for the element of the cache, and for what is special about its form.
template <class Spec> work cached_row(target_id target, const char *form, int keys) {
  work w = row<Spec>("cache", target, form, 1, keys);
  w.name = fmt::format("cache/{}/{}/{}/{}", name_of(cache_element(artefact<Spec>::n)), info_of(target).name, form, keys);
  w.counts = measure::bytes;
  w.cold = true;
  return w;
}

template <class Spec> work rope_row(target_id target, const char *shape, int queries, int keys) {
  work w = row<Spec>("rope", target, shape, queries, keys);
  w.name += fmt::format("/{}", keys);
  if (queries < keys) w.counts = measure::bytes, w.cold = true;
  return w;
}

} // namespace

std::vector<work> cache_works() {
  constexpr target_id avx512 = target_id::avx512, avx512_bf16 = target_id::avx512_bf16;
  std::vector<work> all;
  for (int keys : {8192, 16384}) {
    all.push_back(cached_row<cache_f32>(avx512, "32:8x128", keys));
    all.push_back(cached_row<cache_f32_paged>(avx512, "32:8x128,paged16", keys));
    all.push_back(cached_row<cache_bf16>(avx512_bf16, "32:8x128", keys));
    all.push_back(cached_row<cache_bf16_paged>(avx512_bf16, "32:8x128,paged16", keys));
    all.push_back(cached_row<cache_int8_heads>(avx512_bf16, "32:8x128,per_head", keys));
    all.push_back(cached_row<cache_int8_tokens>(avx512_bf16, "32:8x128,per_token", keys));
    all.push_back(cached_row<cache_int8_paged>(avx512_bf16, "32:8x128,per_token,paged16", keys));
    all.push_back(cached_row<cache_e4m3>(avx512_bf16, "32:8x128", keys));
    all.push_back(cached_row<cache_e5m2>(avx512_bf16, "32:8x128", keys));
    all.push_back(cached_row<cache_12x64_bf16>(avx512_bf16, "12:12x64", keys));
    all.push_back(cached_row<cache_12x64_int8>(avx512_bf16, "12:12x64,per_token", keys));
  }
  all.push_back(row<cache_prefill_paged>("cache", avx512, "causal_12x64,paged16/1024", 1024, 1024));
  all.push_back(rope_row<rope_12x64>(avx512, "12x64", 1024, 1024));
  all.push_back(rope_row<rope_12x64_bf16>(avx512_bf16, "12x64", 1024, 1024));
  all.push_back(rope_row<rope_layer_768>(avx512, "layer_768", 1024, 1024));
  all.push_back(rope_row<rope_decode>(avx512, "32:8x128", 1, 4096));
  all.push_back(rope_row<rope_decode_rotated>(avx512, "32:8x128,keys_rotated", 1, 4096));
  return all;
}

} // namespace attune::bench

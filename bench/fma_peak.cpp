#include "bench/fma_peak.hpp"
#include <chrono>
#include <immintrin.h>

namespace attune::bench {
namespace {
using clock = std::chrono::steady_clock;
constexpr long rounds = 200'000;

double gflops(long instructions, int lanes, clock::time_point start) {
  const double seconds = std::chrono::duration<double>(clock::now() - start).count();
  return 2.0 * double(instructions) * lanes / seconds / 1e9;
}

// Both loops keep as many independent chains as registers allow, so that throughput and not latency is the limit; the
// empty asm uses each chain in each round, so that none is dropped (as an output it would keep the chains in memory).
// a := 0.999 a + 0.001 stays at about 1.

__attribute__((target("avx2,fma"))) double avx2_peak() {
  constexpr int chains = 12; // of 16 registers
  __m256 a[chains];
  for (int i = 0; i < chains; ++i) a[i] = _mm256_set1_ps(1e-3f * float(i));
  const __m256 factor = _mm256_set1_ps(0.999f), step = _mm256_set1_ps(0.001f);
  const auto start = clock::now();
  for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) {
      a[i] = _mm256_fmadd_ps(a[i], factor, step);
      asm volatile("" ::"x"(a[i]));
    }
  }
  return gflops(rounds * chains, 8, start);
}

__attribute__((target("avx512f"))) double avx512_peak() {
  constexpr int chains = 24; // of 32 registers
  __m512 a[chains];
  for (int i = 0; i < chains; ++i) a[i] = _mm512_set1_ps(1e-3f * float(i));
  const __m512 factor = _mm512_set1_ps(0.999f), step = _mm512_set1_ps(0.001f);
  const auto start = clock::now();
  for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
    for (int i = 0; i < chains; ++i) {
      a[i] = _mm512_fmadd_ps(a[i], factor, step);
      asm volatile("" ::"v"(a[i]));
    }
  }
  return gflops(rounds * chains, 16, start);
}
} // namespace

double fma_peak(target_id target) {
  switch (target) {
    case target_id::avx2: return avx2_peak();
    case target_id::avx512:
    case target_id::avx512_bf16: return avx512_peak();
    default: return 0;
  }
}

} // namespace attune::bench

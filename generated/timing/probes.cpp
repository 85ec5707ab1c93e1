#include "generated/timing/probes.hpp"
#include "generated/timing/memory_block.hpp"
#include "runtime/machine.hpp"
#include "runtime/tile_configuration.hpp"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <immintrin.h>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

namespace attune {
namespace {
using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

// The compute loops keep as many independent chains as registers allow, so that throughput and not latency is the limit; the
// empty asm uses each chain in each round, so that none is dropped (as an output it would keep the chains in memory).

constexpr long rounds = 200'000;

/// a := 0.999 a + 0.001 stays at about 1.
__attribute__((target("avx2,fma"))) double fma_256() {
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
  return 2.0 * 8 * rounds * chains / seconds_since(start) / 1e9;
}

__attribute__((target("avx512f"))) double fma_512() {
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
  return 2.0 * 16 * rounds * chains / seconds_since(start) / 1e9;
}

/// a := a + (pairs of zeros) x (pairs of zeros): the instruction's speed does not depend on its values.
__attribute__((target("avx512f,avx512bf16"))) double dot_bf16() {
  constexpr int chains = 24;
  __m512 a[chains];
  for (int i = 0; i < chains; ++i) a[i] = _mm512_set1_ps(1e-3f * float(i));
  const __m512bh pairs = (__m512bh)_mm512_setzero_si512();
  const auto start = clock::now();
  for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
    for (int i = 0; i < chains; ++i) {
      a[i] = _mm512_dpbf16_ps(a[i], pairs, pairs);
      asm volatile("" ::"v"(a[i]));
    }
  }
  return 4.0 * 16 * rounds * chains / seconds_since(start) / 1e9;
}

/// Six sums of the eight tile registers; products of zeros.
__attribute__((target("amx-tile,amx-bf16"))) double tile_bf16() {
  constexpr int chains = 6;
  static constexpr tiles::configuration all;
  _tile_loadconfig(&all); // clears the registers too
  const auto start = clock::now();
  for (long round = 0; round < rounds / 8; ++round) {
    _tile_dpbf16ps(0, 6, 7);
    _tile_dpbf16ps(1, 6, 7);
    _tile_dpbf16ps(2, 6, 7);
    _tile_dpbf16ps(3, 6, 7);
    _tile_dpbf16ps(4, 6, 7);
    _tile_dpbf16ps(5, 6, 7);
  }
  const double seconds = seconds_since(start);
  _tile_release();
  return 4.0 * 16 * 16 * 16 * (rounds / 8) * chains / seconds / 1e9;
}

/// Reads both streams once, a line of each in turn; `ahead` bytes of software prefetch, or none.
template <int ahead> __attribute__((target("avx2"))) double read_streams(const char *first, const char *second, std::size_t stream_bytes) {
  __m256i sum = _mm256_setzero_si256();
  const auto start = clock::now();
  for (std::size_t at = 0; at < stream_bytes; at += 128) {
    for (const char *stream : {first, second}) {
      const auto *lines = reinterpret_cast<const __m256i *>(stream + at);
      if constexpr (ahead > 0) {
        _mm_prefetch(stream + at + ahead, _MM_HINT_T0); // past the end a prefetch does nothing
        _mm_prefetch(stream + at + ahead + 64, _MM_HINT_T0);
      }
      sum = _mm256_xor_si256(sum, _mm256_xor_si256(_mm256_xor_si256(lines[0], lines[1]), _mm256_xor_si256(lines[2], lines[3])));
    }
  }
  asm volatile("" ::"x"(sum));
  return 2 * static_cast<double>(stream_bytes) / seconds_since(start) / 1e9;
}

/// One thread's part of a probe.
class prober {
public:
  double run(probe_kind kind) {
    switch (kind) {
      case probe_kind::fma_256: return fma_256();
      case probe_kind::fma_512: return fma_512();
      case probe_kind::dot_bf16: return dot_bf16();
      case probe_kind::tile_bf16: return tile_bf16();
      case probe_kind::memory_read: return memory_read();
    }
    return 0;
  }

private:
  double memory_read() {
    const std::size_t stream_bytes = cold_bytes() / 2;
    if (streams_.bytes() == 0) {
      streams_ = memory_block(2 * stream_bytes);
      std::memset(streams_.data(), 1, streams_.bytes()); // otherwise all pages would be the one of zeros
    }
    const char *first = streams_.data(), *second = first + stream_bytes;
    return std::max(read_streams<0>(first, second, stream_bytes), read_streams<1024>(first, second, stream_bytes));
  }
  memory_block streams_;
};

} // namespace

probe_kind compute_probe(target_id target, element_type element) {
  switch (target) {
    case target_id::avx2: return probe_kind::fma_256;
    case target_id::avx512: return probe_kind::fma_512;
    case target_id::avx512_bf16: return element == element_type::bf16 ? probe_kind::dot_bf16 : probe_kind::fma_512;
    case target_id::avx512_amx: return element == element_type::bf16 ? probe_kind::tile_bf16 : probe_kind::fma_512;
    default: throw std::invalid_argument(std::string("probes: none for target ") + info_of(target).name);
  }
}

std::size_t cold_bytes() {
  const auto asked = [](int what) { return static_cast<std::size_t>(std::max(sysconf(what), 0L)); }; // 0 or -1 where the system does not say
  const std::size_t memory = asked(_SC_PHYS_PAGES) * asked(_SC_PAGESIZE), twice = 2 * asked(_SC_LEVEL3_CACHE_SIZE);
  return std::max(std::size_t{256} << 20, std::min(twice, memory / 16)); // each way to call a peer holds as much
}

bool has_probe(probe_kind kind) {
  switch (kind) {
    case probe_kind::fma_256: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case probe_kind::fma_512: return __builtin_cpu_supports("avx512f");
    case probe_kind::dot_bf16: return __builtin_cpu_supports("avx512bf16");
    case probe_kind::tile_bf16: return missing_for(target_id::avx512_amx).empty(); // asks the system for tiles
    case probe_kind::memory_read: return __builtin_cpu_supports("avx2");
  }
  return false;
}

const std::vector<int> &usable_cores() {
  static const std::vector<int> all = [] {
    std::vector<int> cores;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) throw std::runtime_error("the CPUs that this process may use cannot be read");
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) cores.push_back(core);
    return cores;
  }();
  return all;
}

void stay_on(const std::vector<int> &cores) {
  usable_cores(); // as they are before anything is changed
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : cores) CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) throw std::runtime_error("this process may not run on CPU " + std::to_string(cores.front()));
}

/// The caller and one helper for each further core. Helpers sleep between probes, and start a probe all at once.
struct probes::team {
  struct helper {
    prober own;
    double result = 0;
    std::thread thread;
  };
  std::vector<int> cores;
  prober own;
  std::vector<std::unique_ptr<helper>> helpers;
  std::atomic<int> call{0}, ready{0}, left{0};
  probe_kind kind{};
  bool ending = false;

  explicit team(std::vector<int> c) : cores(std::move(c)) {
    for (std::size_t i = 1; i < cores.size(); ++i) {
      helpers.push_back(std::make_unique<helper>());
      helpers.back()->thread = std::thread([this, h = helpers.back().get(), core = cores[i]] { serve(*h, core); });
    }
  }
  ~team() {
    ending = true;
    wake();
    for (auto &h : helpers) h->thread.join();
  }
  void wake() {
    ++call;
    call.notify_all();
  }
  void wait_for_all() {
    ++ready;
    while (ready.load() < static_cast<int>(cores.size())) _mm_pause();
  }
  void serve(helper &h, int core) {
    stay_on({core});
    for (int seen = 0;; ++seen) { // one more after each probe: a call made meanwhile is not missed
      call.wait(seen);
      if (ending) return;
      wait_for_all();
      h.result = h.own.run(kind);
      if (--left == 0) left.notify_all();
    }
  }
  double run(probe_kind wanted) {
    kind = wanted;
    ready = 0;
    left = static_cast<int>(helpers.size());
    wake();
    wait_for_all();
    double sum = own.run(kind);
    for (int n; (n = left.load()) > 0;) left.wait(n);
    for (const auto &h : helpers) sum += h->result;
    return sum;
  }
};

probes::probes(std::vector<int> cores) {
  if (cores.empty()) throw std::invalid_argument("probes: no core was given");
  stay_on({cores.front()});
  team_ = std::make_unique<team>(std::move(cores));
}
probes::~probes() = default;

double probes::run(probe_kind kind) { return has_probe(kind) ? team_->run(kind) : 0; }

} // namespace attune

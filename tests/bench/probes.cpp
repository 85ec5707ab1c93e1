// The probes measure something wherever the machine has the instructions, and nothing where it lacks them.
#include "generated/timing/probes.hpp"
#include <catch2/catch.hpp>
#include <stdexcept>

using namespace attune;


TEST_CASE("A probe measures what the machine has, on one core and on all") {
  for (const std::vector<int> &cores : {std::vector<int>{usable_cores().front()}, usable_cores()}) {
    probes p(cores);
    for (const probe_kind kind : {probe_kind::fma_256, probe_kind::fma_512, probe_kind::dot_bf16, probe_kind::tile_bf16, probe_kind::memory_read}) {
      INFO(name_of(kind) << " on " << cores.size() << " cores");
      for (int again = 0; again < 3; ++again) CHECK((p.run(kind) > 0) == has_probe(kind));
    }
  }
}

TEST_CASE("A kernel's probe follows from its target and its elements") {
  CHECK(compute_probe(target_id::avx2, element_type::f32) == probe_kind::fma_256);
  CHECK(compute_probe(target_id::avx512, element_type::f32) == probe_kind::fma_512);
  CHECK(compute_probe(target_id::avx512_bf16, element_type::bf16) == probe_kind::dot_bf16);
  CHECK(compute_probe(target_id::avx512_bf16, element_type::f16) == probe_kind::fma_512);
  CHECK(compute_probe(target_id::avx512_amx, element_type::bf16) == probe_kind::tile_bf16);
  CHECK(compute_probe(target_id::avx512_amx, element_type::f32) == probe_kind::fma_512);
  CHECK_THROWS_AS(compute_probe(target_id::neon, element_type::f32), std::invalid_argument);
}

TEST_CASE("Probes need a core") { CHECK_THROWS_AS(probes({}), std::invalid_argument); }

// The host side of a CUDA call, against a stand-in for the driver: what is loaded, copied and launched. No result.
#include "tests/codegen/gpu_call.hpp"
#include "tests/codegen/gpu_stand_in_cuda.hpp"
#include <catch2/catch.hpp>
#include <cstring>
#include <dlfcn.h>

using namespace gpu_call;

namespace {

stand_in_record &driver() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  const auto record = reinterpret_cast<stand_in_record_function *>(dlsym(library, "attune_stand_in_record"));
  REQUIRE(record != nullptr); // else this is a real driver
  return *record();
}

void check_launch(const stand_in_launch &l, std::array<unsigned, 3> grid, std::array<unsigned, 3> block) {
  for (int i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(l.grid[i] == grid[i]);
    CHECK(l.block[i] == block[i]);
  }
  CHECK(l.shared_bytes > 0);
}

} // namespace

TEST_CASE("one launch per call: tiles of queries, heads, batches") {
  stand_in_record &record = driver();
  const auto small = std::make_unique<call_data<12, 12, 64>>();
  status s = run_causal(*small, target_id::cuda_sm80);
  INFO(s.message());
  REQUIRE(s);
  CHECK(record.launches == 1);
  check_launch(record.last, {2, 12, batches}, {8, 16, 1}); // 100 queries: 2 tiles of 64
  CHECK(record.modules == 1);
  CHECK(std::strstr(record.module_head, ".target sm_80") != nullptr);
  constexpr long long q = batches * 12 * queries * 64, kv = batches * 12 * keys * 64, rows = batches * 12 * queries;
  CHECK(record.bytes_to_device >= 4 * (q + 2 * kv));
  CHECK(record.bytes_from_device == 4 * (q + rows));

  const auto large = std::make_unique<call_data<32, 8, 128>>();
  s = run_grouped(*large, target_id::cuda_sm80);
  REQUIRE(s);
  CHECK(record.launches == 2);
  check_launch(record.last, {4, 32, batches}, {16, 8, 1}); // tiles of 32
  // Halide keeps freed device memory for the next call of the same sizes: nothing may be added by calls like earlier ones.
  const int kept = record.allocations_alive;
  REQUIRE(run_causal(*small, target_id::cuda_sm80));
  REQUIRE(run_grouped(*large, target_id::cuda_sm80));
  CHECK(record.launches == 4);
  CHECK(record.allocations_alive == kept);
  CHECK(record.modules == 2);
}

// Kernels called through the wrapper on the OpenCL device give what the CPU's give.
#include "tests/codegen/gpu_call.hpp"
#include <catch2/catch.hpp>

using namespace gpu_call;

namespace {
template <class Data> void check_same(status (*run)(Data &, target_id)) {
  const auto device = std::make_unique<Data>(), host = std::make_unique<Data>();
  const status on_device = run(*device, target_id::opencl), on_host = run(*host, target_id::avx2);
  INFO(on_device.message());
  INFO(on_host.message());
  REQUIRE(on_device);
  REQUIRE(on_host);
  const std::vector<float> got = device->written(), want = host->written();
  float most = 0;
  for (std::size_t i = 0; i < got.size(); ++i) most = std::fmax(most, std::abs(got[i] - want[i]));
  CHECK(most <= 4e-6f); // each within 2e-6 of the exact answer, |V| <= 1
}
} // namespace

TEST_CASE("causal with LSE") { check_same(run_causal); }
TEST_CASE("grouped heads, causal, window") { check_same(run_grouped); }

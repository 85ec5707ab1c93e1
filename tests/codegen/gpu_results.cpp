// The GPU schedule's results, on an OpenCL device (PoCL), against a plain loop in double precision.
#include "tests/codegen/gpu_trial.hpp"
#include <catch2/catch.hpp>

using namespace attune;
using namespace gpu_trial;

namespace {

void check(on_opencl &kernel, const operator_description &op, const arguments &a, const meaning &m = {}) {
  CAPTURE(a.batches, a.queries, a.keys, a.sequence_first);
  const answer got = kernel.run(a), want = expected(op, a, m);
  CHECK(distance(got.output, want.output) <= bound(op, a));
  if (op.n.returns_lse) CHECK(distance(got.lse, want.lse) <= 1e-5);
}

/// Lengths around the tile of 64 queries and 32 keys, one element, primes, and Nq != Nk.
const std::vector<std::array<int, 3>> shapes{{1, 1, 1}, {1, 2, 31}, {1, 33, 2}, {3, 31, 33}, {1, 63, 65}, {1, 65, 63}, {1, 64, 64}, {2, 100, 37}, {1, 1, 100}, {1, 100, 1}};

void check_shapes(const operator_description &op) {
  on_opencl kernel(op);
  for (const auto &[b, q, k] : shapes) check(kernel, op, random_arguments(op, b, q, k));
}

} // namespace

TEST_CASE("no mask, every element type", "[opencl]") {
  const auto e = GENERATE(element_type::f32, element_type::f16, element_type::bf16);
  CAPTURE(name_of(e));
  operator_description op = attention(2, 2, 64, 64, e);
  op.n.returns_lse = true;
  check_shapes(op);
}

TEST_CASE("causal, every alignment", "[opencl]") {
  operator_description op = attention(2, 1, 32, 32);
  op.n.causal = GENERATE(causal_alignment::bottom_right, causal_alignment::top_left);
  op.n.returns_lse = true;
  check_shapes(op);
}

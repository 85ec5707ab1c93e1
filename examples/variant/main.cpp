// variant [SOFTCAP]: checks some rows of the variant against its formula in double precision, then measures how fast it is beside
// the same operator without masks and functions: useful FLOP/s of both, on one thread, rounds of the two in turn.
#include "runtime/kernel.hpp"
#include "variant_kernels/capped_alibi_window.hpp"
#include "variant_kernels/plain.hpp"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

using namespace attune::axes;

namespace {

constexpr int heads = 16, dim = 128, window = 1024, tokens = 2048, rounds = 7;

template <class Tensor> void fill(Tensor &t, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::generate(t.begin(), t.end(), [&] { return normal(random); });
}

struct tensors {
  attune::tensor<float, head<heads>, query<>, head_dim<dim>> q{tokens};
  attune::tensor<float, kv_head<heads>, key<>, head_dim<dim>> k{tokens};
  attune::tensor<float, kv_head<heads>, key<>, value_dim<dim>> v{tokens};
  attune::tensor<float, head<heads>, query<>, value_dim<dim>> out{tokens};
  attune::tensor<float, head<heads>> slopes;
};

/// The largest difference of one row of the output from the formula.
double error_of_row(const tensors &t, double softcap, int h, int row) {
  std::vector<double> sum(dim);
  double total = 0, worst = 0;
  for (int key = std::max(0, row - window + 1); key <= row; ++key) {
    double dot = 0;
    for (int d = 0; d < dim; ++d) dot += double(t.q(h, row, d)) * t.k(h, key, d);
    const double score = softcap * std::tanh(dot / std::sqrt(double(dim)) / softcap) - t.slopes(h) * (row - key);
    const double weight = std::exp(score);
    total += weight;
    for (int d = 0; d < dim; ++d) sum[d] += weight * t.v(h, key, d);
  }
  for (int d = 0; d < dim; ++d) worst = std::max(worst, std::abs(sum[d] / total - t.out(h, row, d)));
  return worst;
}

template <class F> double seconds_of(F f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

int main(int argc, char **argv) {
  const double softcap = argc > 1 ? std::atof(argv[1]) : 50;
  tensors t;
  fill(t.q, 1), fill(t.k, 2), fill(t.v, 3);
  for (int h = 0; h < heads; ++h) t.slopes(h) = std::exp2(-0.5f * float(h + 1));
  attune::call_options one_thread;
  one_thread.threads = 1;
  const auto run_plain = [&] { attune::kernel<variant::plain>{}(t.q.read(), t.k.read(), t.v.read(), t.out.read_write(), one_thread); };
  const auto run_variant = [&] { attune::kernel<variant::capped_alibi_window>{}(t.q.read(), t.k.read(), t.v.read(), t.out.read_write(), t.slopes.read(), one_thread); };

  run_variant();
  for (const int row : {0, 1, tokens / 2, tokens - 1})
    if (const double error = error_of_row(t, softcap, row % heads, row); !(error < 1e-5)) {
      std::printf("row %d is off by %g\n", row, error);
      return 1;
    }

  double plain = 1e9, variant = 1e9, useful = 0;
  for (int i = 0; i < rounds; ++i) plain = std::min(plain, seconds_of(run_plain)), variant = std::min(variant, seconds_of(run_variant));
  for (int row = 0; row < tokens; ++row) useful += std::min(row + 1, window);
  const double per_pair = 4e-9 * heads * dim; // GFLOP for each pair of query and key that may meet
  const double plain_speed = per_pair * tokens * tokens / plain, variant_speed = per_pair * useful / variant;
  std::printf("%d tokens: without %.1f GFLOP/s, with %.1f useful GFLOP/s, ratio %.2f\n", tokens, plain_speed, variant_speed, variant_speed / plain_speed);
}

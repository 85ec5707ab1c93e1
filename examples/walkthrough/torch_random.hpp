// The random numbers that PyTorch draws on a CPU after torch.manual_seed(seed), so that published examples can be followed
// figure by figure. Against PyTorch 2.2.2, uniform numbers are the same bit for bit, normal ones within 5e-7: its vectorised
// log, sin and cos round differently.
#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace walkthrough {

class torch_generator {
public:
  explicit torch_generator(std::uint32_t seed) : engine_(seed) {}

  /// torch.rand(count), and uniform_(low, high): 24 random bits of each word make a float in [0, 1).
  std::vector<float> uniform(std::size_t count, float low = 0, float high = 1);
  /// torch.randn(count) and Embedding's normal_, for a multiple of 16: Box-Muller over blocks of 16.
  std::vector<float> normal(std::size_t count);
  /// The weight [out, in] of a fresh torch.nn.Linear(in, out): uniform within 1 / sqrt(in) of 0.
  std::vector<float> linear_weight(int out, int in);

private:
  std::mt19937 engine_; ///< the same Mersenne Twister and the same seeding as torch's
};

} // namespace walkthrough

#include "torch_random.hpp"
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace walkthrough {
namespace {

/// 16 uniform numbers become 16 normal ones: the first eight give the radii, the last eight the angles.
void box_muller(float *block) {
  for (int i = 0; i < 8; ++i) {
    const float radius = std::sqrt(-2.0f * std::log(1.0f - block[i])); // 1 - u is never 0
    const float angle = 2.0f * std::numbers::pi_v<float> * block[i + 8];
    block[i] = radius * std::cos(angle);
    block[i + 8] = radius * std::sin(angle);
  }
}

} // namespace

std::vector<float> torch_generator::uniform(std::size_t count, float low, float high) {
  std::vector<float> values(count);
  for (float &v : values) v = static_cast<float>(engine_() & 0xffffffu) * 0x1p-24f * (high - low) + low;
  return values;
}

std::vector<float> torch_generator::normal(std::size_t count) {
  if (count == 0 || count % 16 != 0) throw std::invalid_argument("torch_generator::normal: torch draws counts that are no multiple of 16 in another way");
  std::vector<float> values = uniform(count);
  for (std::size_t i = 0; i < count; i += 16) box_muller(&values[i]);
  return values;
}

std::vector<float> torch_generator::linear_weight(int out, int in) {
  const float bound = 1.0f / std::sqrt(static_cast<float>(in));
  return uniform(static_cast<std::size_t>(out) * static_cast<std::size_t>(in), -bound, bound);
}

} // namespace walkthrough

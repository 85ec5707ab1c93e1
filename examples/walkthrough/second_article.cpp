#include "articles.hpp"
#include "attention.hpp"
#include "common/npy.hpp"
#include "torch_random.hpp"
#include <algorithm>
#include <cmath>

namespace walkthrough {
namespace {

constexpr int batch = 2, tokens = 8, features = 64, head_dim = 16, heads = 4;
constexpr double allowed = 2e-6; ///< every value here is below 1

struct setting {
  story &s;
  std::string target;
  std::filesystem::path reference_folder;
};

/// Compares with what PyTorch gave (the file), and with plain loops.
void compare(const setting &t, const std::string &what, const std::vector<float> &got, const std::string &file, const std::vector<double> &plain) {
  t.s.close(what + ", against plain loops", widen(got), plain, allowed);
  t.s.close(what + ", against PyTorch", widen(got), widen(examples::read_npy(t.reference_folder / (file + ".npy")).values), allowed);
}

weights draw_weights(torch_generator &generator, int features_out, bool with_output) {
  const auto draw = [&] { return matrix{features_out, features, generator.linear_weight(features_out, features)}; };
  weights w;
  w.query = draw();
  w.key = draw();
  w.value = draw();
  if (with_output) w.output = draw();
  return w;
}

/// The sums over keys of all rows of weights.
std::vector<double> row_sums(const std::vector<float> &weights) {
  std::vector<double> sums(weights.size() / tokens);
  for (std::size_t i = 0; i < weights.size(); ++i) sums[i / tokens] += weights[i];
  return sums;
}

double sum_above_diagonal(const std::vector<float> &weights) {
  double sum = 0;
  for (int i = 0; i < static_cast<int>(weights.size()); ++i)
    if (i % tokens > i / tokens % tokens) sum += weights[static_cast<std::size_t>(i)];
  return sum;
}

void show_map(story &s, const std::vector<float> &weights) { s.show({weights.begin(), weights.begin() + tokens * tokens}, tokens); }

void check_shares(story &s, const std::string &what, const std::vector<float> &weights) {
  s.close("each row of weights sums to 1, " + what, row_sums(weights), std::vector<double>(weights.size() / tokens, 1.0), 1e-6);
}

void tell_single_head(const setting &t, const weights &w, const sequence &x) {
  t.s.say("1. One head");
  t.s.say("   Two sequences of {} tokens with {} features; one head of {}. How the first sequence's tokens (rows) share out their", tokens, features, head_dim);
  t.s.say("   attention over its tokens (columns):");
  const std::vector<std::uint8_t> everything(tokens * tokens, 1);
  const attended result = run_single_head(w, x, everything, t.target);
  show_map(t.s, result.weights);
  t.s.holds("output is 2 x 8 x 16", result.output.size() == std::size_t{batch * tokens * head_dim});
  check_shares(t.s, "one head", result.weights);
  const plain_result plain = run_plain(w, x, 1, false);
  compare(t, "one head's weights", result.weights, "single_head_weights", plain.weights);
  compare(t, "one head's output", result.output, "single_head_output", plain.output);
}

void tell_causal(const setting &t, const weights &w, const sequence &x) {
  t.s.say("\n2. No look into the future");
  t.s.say("   When a model predicts the next token, a token may see itself and those before it. All to the right is exactly 0:");
  const attended result = run_single_head_causal(w, x, t.target);
  show_map(t.s, result.weights);
  t.s.holds("the weights above the diagonal sum to 0", sum_above_diagonal(result.weights) == 0);
  check_shares(t.s, "causal", result.weights);
  const plain_result plain = run_plain(w, x, 1, true);
  compare(t, "the causal head's weights", result.weights, "causal_weights", plain.weights);
  compare(t, "the causal head's output", result.output, "causal_output", plain.output);

  t.s.say("   The same as a mask tensor of ones and zeros, as the article writes it (the rule above needs no tensor):");
  std::vector<std::uint8_t> lower_triangle;
  for (int query = 0; query < tokens; ++query)
    for (int key = 0; key < tokens; ++key) lower_triangle.push_back(key <= query);
  const attended masked = run_single_head(w, x, lower_triangle, t.target);
  t.s.holds("the masked weights above the diagonal sum to 0", sum_above_diagonal(masked.weights) == 0);
  t.s.close("mask tensor against causal rule", widen(masked.output), widen(result.output), 1e-6);
}

void tell_multi_head(const setting &t, const weights &w, const sequence &x) {
  t.s.say("\n3. Several heads");
  t.s.say("   {} heads of {} look for different things at once; an output projection mixes what they found into {} features.", heads, head_dim, features);
  const attended result = run_multi_head(w, x, t.target);
  t.s.say("   What the last token of the first sequence looks at, head by head:");
  std::vector<double> last_rows;
  for (int h = 0; h < heads; ++h) {
    const auto first = result.weights.begin() + (h * tokens + tokens - 1) * tokens;
    last_rows.insert(last_rows.end(), first, first + tokens);
  }
  t.s.show(last_rows, tokens);
  t.s.holds("output has the shape of the input, 2 x 8 x 64", result.output.size() == x.values.size());
  t.s.holds("the weights of all heads above the diagonal sum to 0", sum_above_diagonal(result.weights) == 0);
  check_shares(t.s, "four heads", result.weights);
  const plain_result plain = run_plain(w, x, heads, true);
  t.s.close("four heads' weights, against plain loops", widen(result.weights), plain.weights, allowed);
  compare(t, "four heads' output", result.output, "multi_head_output", plain.output);
}

/// Sines at even features, cosines at odd ones, of wavelengths from 2 pi to 10000 x 2 pi.
std::vector<float> sinusoidal_positions() {
  std::vector<float> positions;
  for (int token = 0; token < tokens; ++token)
    for (int f = 0; f < features; ++f) {
      const double angle = token * std::pow(10000.0, -(f / 2 * 2) / static_cast<double>(features));
      positions.push_back(static_cast<float>(f % 2 == 0 ? std::sin(angle) : std::cos(angle)));
    }
  return positions;
}

sequence reverse_tokens(const sequence &x) {
  sequence reversed = x;
  for (int b = 0; b < x.batch; ++b)
    for (int token = 0; token < x.tokens; ++token)
      std::copy_n(x.values.begin() + (b * x.tokens + token) * x.features, x.features,
                  reversed.values.begin() + (b * x.tokens + x.tokens - 1 - token) * x.features);
  return reversed;
}

sequence add_positions(sequence x, const std::vector<float> &positions) {
  for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] += positions[i % positions.size()];
  return x;
}

double largest_difference(const std::vector<float> &a, const std::vector<float> &b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max<double>(largest, std::abs(a[i] - b[i]));
  return largest;
}

void tell_positions(const setting &t, const weights &w, const sequence &x) {
  t.s.say("\n4. Where a token stands");
  t.s.say("   Attention itself knows no order. With the tokens reversed, every token gets the vector that it had before:");
  const std::vector<std::uint8_t> everything(tokens * tokens, 1);
  const auto attend = [&](const sequence &input) { return sequence{batch, tokens, head_dim, run_single_head(w, input, everything, t.target).output}; };
  const sequence forwards = attend(x), backwards = reverse_tokens(attend(reverse_tokens(x)));
  t.s.close("reversed tokens, the same vectors", widen(backwards.values), widen(forwards.values), 1e-6);

  t.s.say("   So each position gets a pattern of waves, added to its token. The first 8 features of the first 4 positions:");
  const std::vector<float> positions = sinusoidal_positions();
  std::vector<double> corner;
  for (int token = 0; token < 4; ++token) corner.insert(corner.end(), positions.begin() + token * features, positions.begin() + token * features + 8);
  t.s.show(corner, 8);
  t.s.close("sinusoidal positions, against PyTorch", widen(positions), widen(examples::read_npy(t.reference_folder / "positions.npy").values), 1e-6);

  const sequence placed = add_positions(x, positions);
  const sequence placed_forwards = attend(placed), placed_backwards = reverse_tokens(attend(add_positions(reverse_tokens(x), positions)));
  compare(t, "the head's output with positions", placed_forwards.values, "positioned_output", run_plain(w, placed, 1, false).output);
  const double change = largest_difference(placed_forwards.values, placed_backwards.values);
  t.s.holds(fmt::format("reversed tokens now give other vectors (by up to {:.2f})", change), change > 0.01);
}

} // namespace

void tell_second_article(story &s, const std::string &target, const std::filesystem::path &reference_folder) {
  const setting t{s, target, reference_folder};
  torch_generator generator(42);
  const weights single = draw_weights(generator, head_dim, false);
  const sequence x{batch, tokens, features, generator.normal(batch * tokens * features)};
  const weights causal = draw_weights(generator, head_dim, false), multi = draw_weights(generator, features, true);
  tell_single_head(t, single, x);
  tell_causal(t, causal, x);
  tell_multi_head(t, multi, x);
  tell_positions(t, single, x);
}

} // namespace walkthrough

// The self-attention of the encoder's layers, query, key, value and output projections included, by the libraries that
// Attune generated: the one place of this example that calls them.
#pragma once
#include "model.hpp"
#include "sentences.hpp"
#include <memory>
#include <string>

namespace minilm {

enum class attention_kind {
  f32,
  bf16,          ///< hidden, projections and output stored as bf16
  f32_with_maps, ///< f32, and the softmax weights are returned
};

struct attention_options {
  attention_kind kind = attention_kind::f32;
  std::string target; ///< empty: the best one that this machine can run
  int threads = 0;    ///< 0: as many as the machine has
};

class self_attention {
public:
  virtual ~self_attention() = default;

  /// output = the attention of this layer over hidden; both [sentence * token, model_dim]. Keys from a sentence's length on
  /// are masked. With f32_with_maps, `map` receives [sentence, head, query, key]; it is left alone otherwise.
  virtual void run(int layer, const token_batch &, const matrix &hidden, matrix &output, std::vector<float> *map) = 0;
  /// The target that runs, by name.
  virtual std::string target() const = 0;
};

/// Packs the weights of all layers. Throws examples::unavailable if this machine cannot run the target, std::runtime_error if
/// the build has no such target or the model's shape is not the one that the library was generated for.
std::unique_ptr<self_attention> make_self_attention(const encoder_weights &, const attention_options &);

} // namespace minilm

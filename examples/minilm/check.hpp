// Compares with what an independent implementation gave for the stored sentences (tests/data/minilm).
#pragma once
#include "encoder.hpp"

namespace minilm {

/// Encodes the stored sentences and prints each figure beside its bound. f32: all embeddings within 2e-5 of
/// embeddings.npy, and both stored attention maps within 1e-5. bf16: all cosines within 5e-3. True if all hold.
bool check_against_reference(const encoder_weights &, const attention_options &, const std::filesystem::path &reference_folder);

} // namespace minilm

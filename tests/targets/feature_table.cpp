// Prints docs/features.md: features of the language, the targets that carry a spec with them (as the generator answers), and the
// tests that show them. tests/targets/features_test.cmake compares, and looks whether the tests are there.
#include "dsl/pipeline/describe.hpp"
#include "schedules/build.hpp"
#include <cstdio>
#include <string>
#include <vector>

namespace feature_specs {
using namespace attune;

struct plain { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>); };
struct half { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f16>); };
struct brain { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<bf16>); };
struct grouped { static constexpr auto spec = attention(heads<4>, kv_heads<2>, head_dim<64>, element<f32>); };
struct dims { static constexpr auto spec = attention(heads<4>, head_dim<64>, value_dim<32>, element<f32>); };
struct one_layer { static constexpr auto spec = layer(model_dim<64>, heads<2>, head_dim<32>, element<f32>, bias); };
struct cross {
  static constexpr auto spec = project(model_dim<64>, heads<2>, head_dim<32>, element<f32>, cross_attention) | scores() | softmax() | weighted_sum() | project_out();
};
struct bottom_right { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, causal<align::bottom_right>); };
struct top_left { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, causal<align::top_left>); };
struct at_length { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, causal<align::at_length>); };
struct window { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, causal<align::bottom_right>, sliding_window<runtime>); };
struct lengths { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, key_lengths); };
struct boolean_mask { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, boolean<axis::batch, axis::query, axis::key>); };
struct additive_mask { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, additive<axis::head, axis::query, axis::key>); };
struct mask_function { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, [](auto at) { return at.query / 64 == at.key / 64; }); };
struct two_sided { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, sliding_window<runtime, runtime>); };
struct prefix { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, causal<align::bottom_right>, prefix_lengths); };
struct by_ids { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, documents<ids>); };
struct by_offsets { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, documents<offsets>); };
struct block_table { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, block_sparse<64, 64, axis::head>); };
struct linear_bias { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, alibi<>); };
struct bucket_bias { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, relative_bias<32, 128, bidirectional>); };
struct capped { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, scale<runtime>, softcap<runtime>); };
struct slope {};
struct score_function {
  static constexpr auto spec = operands(heads<4>, head_dim<64>, element<f32>, input<slope>(f32, axis::head))
                             | scores([](auto s, auto at) { return s - at(slope{}, at.head) * (at.query - at.key); })
                             | softmax() | weighted_sum();
};
struct no_empty_rows { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, key_lengths, empty_rows<empty_row_policy::error>); };
struct anything_masked { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, key_lengths, masked_values<anything>); };
struct with_lse { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, returns<lse>); };
struct with_weights { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, returns<weights>); };
struct with_scores {
  static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, returns<scaled_scores, capped_scores, masked_scores>);
};
struct with_sinks { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, sinks); };
struct with_sigmoid { static constexpr auto spec = operands(heads<4>, head_dim<64>, element<f32>) | sigmoid(sigmoid_bias<runtime>) | weighted_sum(); };
struct int8_cache { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, kv_element<int8>, kv_scale<per_token>); };
struct fp8_cache { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, kv_element<e4m3>); };
struct large { static constexpr auto spec = attention(heads<4>, head_dim<512>, element<f32>); };
struct latent { static constexpr auto spec = attention(heads<16>, kv_heads<1>, head_dim<576>, value_dim<512>, element<bf16>); };
struct pages { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, paged<16>); };
struct rotary { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, theta<10000>, position_offsets); };
struct rotary_tables { static constexpr auto spec = attention(heads<4>, head_dim<64>, element<f32>, angle_tables, keys_rotated, causal<align::at_length>); };
struct rotary_layer { static constexpr auto spec = layer(model_dim<64>, heads<2>, head_dim<32>, element<f32>, theta<10000>); };
struct waves { static constexpr auto spec = layer(model_dim<64>, heads<2>, head_dim<32>, element<f32>, sinusoidal_positions<10000>); };

struct feature {
  const char *what;
  operator_description (*describe)();
  std::vector<const char *> tests; ///< as ctest names them, up to the target
  bool on_devices = true;          ///< else the call refuses it there (runtime/bind.hpp), whatever the generator carries
};

const feature features[] = {
    {"any head_dim from 1 to 256", describe<plain>, {"correctness.variant.head_dim_1", "correctness.variant.head_dim_96", "correctness.variant.head_dim_256", "correctness.shape.d17_v48_f16", "targets.neon_language.d17_v48_f16"}},
    {"head_dim to 512", describe<large>, {"correctness.shape.d257_v255", "correctness.shape.d320_bf16", "correctness.shape.d511_f16", "correctness.shape.d512", "targets.neon_language.d257_v255"}},
    {"MLA: one latent of 576 features, values its first 512", describe<latent>, {"correctness.shape.latent", "correctness.shape.latent_bf16", "correctness.memory_layouts", "targets.neon_language.latent_bf16"}},
    {"packed QKV, strided outer axes", describe<plain>, {"correctness.memory_layouts"}},
    {"tensors of more than 2^31 elements", describe<plain>, {"correctness.memory_layouts"}, false},
    {"f16", describe<half>, {"correctness.variant.f16_gqa", "correctness.variant.f16_odd"}},
    {"bf16", describe<brain>, {"correctness.variant.bf16_gqa", "correctness.variant.bf16_odd"}},
    {"grouped-query and multi-query: `kv_heads`", describe<grouped>, {"correctness.variant.gqa_causal", "correctness.variant.mqa"}},
    {"`value_dim` apart from `head_dim`", describe<dims>, {"correctness.variant.head_dim_3_value_dim_5"}},
    {"projections: `project`, `project_out`, `bias`", describe<one_layer>, {"correctness.layer.layer_f32", "correctness.layer.layer_bf16"}},
    {"cross-attention with projections", describe<cross>, {"correctness.layer.cross_layer"}},
    {"`causal<align::bottom_right>`", describe<bottom_right>, {"correctness.reported_faults", "correctness.variant.gqa_causal"}},
    {"`causal<align::top_left>`", describe<top_left>, {"correctness.reported_faults", "correctness.variant.top_left"}},
    {"`causal<align::at_length>`", describe<at_length>, {"correctness.cache.int8_tokens", "targets.neon_language.int8_tokens", "targets.opencl_language.int8_tokens"}},
    {"`sliding_window`, fixed or at the call", describe<window>, {"correctness.variant.window_bottom_right", "correctness.semantics"}},
    {"`key_lengths`", describe<lengths>, {"correctness.variant.lengths", "correctness.semantics"}},
    {"`boolean` masks over any axes", describe<boolean_mask>, {"correctness.mask.over_batch_head_query_key", "correctness.mask.over_key", "targets.neon_language.over_batch_head_query_key"}},
    {"`additive` masks over any axes", describe<additive_mask>, {"correctness.mask.over_batch_head_query_key", "correctness.mask.over_bf16", "targets.neon_language.over_bf16"}},
    {"mask functions, tiles skipped", describe<mask_function>, {"correctness.variant.block_diagonal", "codegen.tiles"}},
    {"`sliding_window` to both sides", describe<two_sided>, {"correctness.masking.windows", "targets.neon_language.windows"}},
    {"`prefix_lengths`", describe<prefix>, {"correctness.masking.prefix", "targets.neon_language.prefix", "targets.opencl_language.prefix"}},
    {"`documents<ids>`", describe<by_ids>, {"correctness.masking.documents_of_two", "codegen.tiles", "targets.neon_language.documents_of_two"}},
    {"`documents<offsets>`: batches without padding", describe<by_offsets>, {"correctness.masking.offsets_of_two", "correctness.masking.packed_self", "targets.neon_language.offsets_of_two", "targets.opencl_language.offsets_of_two"}},
    {"`block_sparse`", describe<block_table>, {"correctness.masking.blocks", "codegen.tiles", "targets.neon_language.blocks"}},
    {"`alibi`", describe<linear_bias>, {"correctness.masking.offsets_of_two", "correctness.masking.blocks", "targets.neon_language.offsets_of_two"}},
    {"`relative_bias`", describe<bucket_bias>, {"correctness.masking.prefix", "correctness.masking.blocks", "targets.neon_language.prefix"}},
    {"`scale`, `softcap`, fixed or at the call", describe<capped>, {"correctness.variant.fixed_softcap", "correctness.semantics"}},
    {"score functions that read inputs", describe<score_function>, {"correctness.variant.alibi", "correctness.variant.two_score_functions"}},
    {"empty rows are an error", describe<no_empty_rows>, {"correctness.semantics"}},
    {"NaN and infinity in masked values", describe<anything_masked>, {"correctness.semantics", "correctness.poison"}},
    {"`returns<lse>`", describe<with_lse>, {"correctness.reported_faults", "correctness.variant.plain"}},
    {"`returns<weights>`", describe<with_weights>, {"correctness.variant.with_weights", "correctness.variant.bf16_weights", "targets.neon_language.all_scores"}},
    {"`returns<scaled_scores>`, `capped_scores`, `masked_scores`", describe<with_scores>, {"correctness.output.all_scores", "correctness.output.only_scaled_scores", "targets.neon_language.all_scores"}},
    {"attention `sinks`", describe<with_sinks>, {"correctness.output.sinks_causal", "correctness.output.sinks_bf16", "correctness.outputs", "targets.neon_language.sinks_bf16", "targets.opencl_language.sinks_bf16"}},
    {"`sigmoid`, `sigmoid_bias`", describe<with_sigmoid>, {"correctness.output.sigmoid_causal", "correctness.output.sigmoid_bf16", "correctness.outputs", "targets.neon_language.sigmoid_causal", "targets.opencl_language.sigmoid_causal"}},
    {"keys and values in int8", describe<int8_cache>, {"correctness.cache.int8_tokens", "correctness.cache.int8_heads", "targets.neon_language.int8_tokens", "targets.opencl_language.int8_tokens"}},
    {"keys and values in fp8", describe<fp8_cache>, {"correctness.cache.e4m3_heads", "correctness.cache.e5m2_bare", "targets.neon_language.e4m3_heads", "targets.opencl_language.paged_e4m3"}},
    {"keys and values in pages: `paged`", describe<pages>, {"correctness.cache.paged_f32", "correctness.cache.paged_bf16", "targets.neon_language.paged_bf16", "targets.opencl_language.paged_bf16"}},
    {"rotary embedding: `rope`, both pairings, partial, offsets", describe<rotary>, {"correctness.rotary.rope_half", "correctness.rotary.rope_interleaved", "correctness.rotary.rope_partly", "targets.neon_language.rope_interleaved", "targets.opencl_language.rope_f16"}},
    {"rotary embedding by given tables, or of queries alone beside a cache", describe<rotary_tables>, {"correctness.rotary.rope_tables", "correctness.rotary.rope_at_length", "targets.neon_language.rope_tables", "targets.opencl_language.rope_tables"}},
    {"rotary embedding in a layer", describe<rotary_layer>, {"correctness.rotary.rope_layer", "correctness.rotary.rope_layer_bf16", "targets.neon_language.rope_layer_bf16"}},
    {"`sinusoidal_positions`", describe<waves>, {"correctness.rotary.sinusoidal_layer", "correctness.rotary.sinusoidal_layer_bf16", "targets.neon_language.sinusoidal_layer"}},
};

std::string joined(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &w : words) text += (text.empty() ? "" : ", ") + w;
  return text;
}

void print_row(const feature &f) {
  const operator_description op = f.describe();
  std::vector<std::string> carrying, tests;
  for (const target_info &t : all_targets)
    if ((f.on_devices || t.device == device_kind::cpu) && why_not(op, t).empty()) carrying.push_back(t.name);
  for (const char *test : f.tests) tests.push_back(std::string("`").append(test).append("`"));
  const bool everywhere = carrying.size() == std::size(all_targets);
  std::printf("| %s | %s | %s |\n", f.what, everywhere ? "all" : joined(carrying).c_str(), joined(tests).c_str());
}
} // namespace feature_specs

int main() {
  using namespace feature_specs;
  std::puts("# Features\n\n"
            "What the language can say, the targets whose kernels carry it, and the tests that show it (names as `ctest` has them, without the\n"
            "target at their end). Every two of the features that change a score or a row meet in a spec of `correctness.combination.*`. ONNX's own cases:\n"
            "`conformance.onnx`. Specs of `correctness.variant`, `correctness.layer` and `correctness.reported` run under qemu as well (`targets.variant` and so\n"
            "on). This page is the output of `feature_table`, which asks the generator; a test compares the two, and looks whether the tests are there.\n\n"
            "| feature | targets | tests |\n|---|---|---|");
  for (const feature &f : features) print_row(f);
}

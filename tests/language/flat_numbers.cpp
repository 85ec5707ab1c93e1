// What chains collapse to.
#include "dsl/spec.hpp"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>

namespace {
using namespace attune;

struct minimal {
  static constexpr auto spec = operands(heads<6>, head_dim<48>, element<f32>) | softmax() | weighted_sum();
};
struct table {};
struct everything {
  static constexpr auto spec =
      operands(layout<bshd>, input<table>(i32, axis::batch, axis::key), element<bf16>, value_dim<40>, head_dim<24>, kv_heads<2>,
               heads<8>) |
      scores(softcap<61, 2>, scale<3>, [](auto s, auto) { return s; }) |
      mask(
          additive<bf16, axis::head, axis::key>, causal<align::top_left>, sliding_window<0>, key_lengths,
          boolean<axis::query, axis::key>, [](auto at) { return at.key >= 0; }, [](auto) { return true; }) |
      softmax(empty_rows<empty_row_policy::error>) | weighted_sum(masked_values<anything>, returns<weights, lse>);
};
struct at_call {
  static constexpr auto spec = operands(heads<1>, head_dim<8>, element<f16>) | scores(scale<runtime>, softcap<runtime>) |
                               mask(causal<align::bottom_right>, sliding_window<runtime>) | softmax() | weighted_sum();
};
struct self_layer {
  static constexpr auto spec = project(model_dim<96>, heads<3>, head_dim<32>, element<f32>, bias) | mask(causal<>) | softmax() |
                               weighted_sum() | project_out(model_dim<64>);
};
struct cross_layer {
  static constexpr auto spec = project(cross_attention, context_dim<20>, model_dim<96>, heads<3>, head_dim<32>, element<f32>) |
                               softmax() | weighted_sum() | project_out(bias);
};
struct cross_without_context_dim {
  static constexpr auto spec =
      project(cross_attention, model_dim<96>, heads<3>, head_dim<32>, element<f32>) | softmax() | weighted_sum();
};

struct sinking { static constexpr auto spec = attention(heads<4>, head_dim<16>, element<f32>, key_lengths, boolean<axis::key>, sinks, returns<masked_scores, lse, scaled_scores>); };
struct sigmoidal {
  static constexpr auto spec = operands(heads<4>, head_dim<16>, element<f32>) | sigmoid(sigmoid_bias<-7, 2>) | weighted_sum(returns<weights, capped_scores>);
};

template <class Spec> std::vector<input_declaration> inputs_of() {
  return language::declarations_of(typename std::remove_const_t<decltype(Spec::spec)>::inputs{});
}
struct turned {
  static constexpr auto spec = operands(heads<4>, head_dim<32>, element<f32>) | rope(theta<500001, 2>, pairing<interleaved>, dims<16>, position_offsets, keys_rotated) |
                               softmax() | weighted_sum();
};
struct turned_by_tables { static constexpr auto spec = attention(heads<4>, head_dim<32>, element<f32>, angle_tables); };
struct with_waves { static constexpr auto spec = layer(model_dim<64>, heads<2>, head_dim<32>, element<f32>, sinusoidal_positions<10000>); };
} // namespace

TEST_CASE("positions") {
  constexpr rotary_embedding none = numbers(minimal::spec).rope, some = numbers(turned::spec).rope;
  CHECK(none.dims == 0);
  CHECK((some.dims == 16 && some.theta == 250000.5 && some.pairing == rotary_pairing::interleaved));
  CHECK((!some.angle_tables && some.position_offsets && some.keys_rotated));
  constexpr numbers tables = turned_by_tables::spec;
  CHECK((tables.rope.dims == 32 && tables.rope.pairing == rotary_pairing::half && tables.rope.angle_tables && !tables.rope.keys_rotated));
  const signature call = signature_of(tables, nullptr, 0);
  CHECK((call.tensor_count == 6 && call.tensors[4].role == tensor_role::cos_table && call.tensors[5].axes[2].extent == 16));
  CHECK((numbers(with_waves::spec).sinusoidal_theta == 10000 && numbers(self_layer::spec).sinusoidal_theta == 0));
}

TEST_CASE("defaults are filled in") {
  constexpr numbers n = minimal::spec;
  CHECK(n.source == source_kind::operands);
  CHECK(n.element == element_type::f32);
  CHECK((n.heads == 6 && n.kv_heads == 6 && n.head_dim == 48 && n.value_dim == 48));
  CHECK((n.model_dim == 0 && n.context_dim == 0 && n.output_dim == 0));
  CHECK((n.scale.kind == setting::fixed && n.scale.value == static_cast<double>(1 / std::sqrt(48.0L))));
  CHECK((n.softcap.kind == setting::off && n.window.kind == setting::off));
  CHECK(n.causal == causal_alignment::off);
  CHECK_FALSE((n.key_lengths || n.same_extents || n.returns_lse || n.returns_weights || n.projection_bias || n.output_bias));
  CHECK(n.empty_rows == empty_row_policy::zero);
  CHECK(n.masked_values == masked_value_policy::finite);
  CHECK(n.layout == tensor_layout::bhsd);
  CHECK(inputs_of<minimal>().empty());
}

TEST_CASE("every property arrives, whatever the order") {
  constexpr numbers n = everything::spec;
  CHECK(n.element == element_type::bf16);
  CHECK((n.heads == 8 && n.kv_heads == 2 && n.head_dim == 24 && n.value_dim == 40));
  CHECK((n.scale.kind == setting::fixed && n.scale.value == 3));
  CHECK((n.softcap.kind == setting::fixed && n.softcap.value == 30.5));
  CHECK(n.causal == causal_alignment::top_left);
  CHECK((n.window.kind == setting::fixed && n.window.value == 0));
  CHECK((n.key_lengths && n.returns_lse && n.returns_weights));
  CHECK(n.empty_rows == empty_row_policy::error);
  CHECK(n.masked_values == masked_value_policy::anything);
  CHECK(n.layout == tensor_layout::bshd);
}

TEST_CASE("inputs come in the order written: the user's, then mask tensors") {
  const auto inputs = inputs_of<everything>();
  REQUIRE(inputs.size() == 3);
  CHECK(std::strcmp(inputs[0].name, "table") == 0);
  CHECK((inputs[0].role == tensor_role::input && inputs[0].element == element_type::i32 && inputs[0].rank == 2));
  CHECK((inputs[0].axes[0] == axis_name::batch && inputs[0].axes[1] == axis_name::key));
  CHECK((inputs[1].role == tensor_role::additive_mask && inputs[1].element == element_type::bf16 && inputs[1].rank == 2));
  CHECK((inputs[1].axes[0] == axis_name::head && inputs[1].axes[1] == axis_name::key));
  CHECK((inputs[2].role == tensor_role::boolean_mask && inputs[2].element == element_type::boolean && inputs[2].rank == 2));
}

TEST_CASE("numbers can be left to the call") {
  constexpr numbers n = at_call::spec;
  CHECK((n.scale.kind == setting::at_call && n.softcap.kind == setting::at_call && n.window.kind == setting::at_call));
  CHECK(n.element == element_type::f16);
  CHECK(signature_of(n, nullptr, 0).number_count == 3);
}

TEST_CASE("sinks are an input behind the masks, scores are returned in one order") {
  constexpr numbers n = sinking::spec;
  CHECK((n.sinks && n.weights == weighting::softmax && n.returns_lse && n.returns_scaled_scores && !n.returns_capped_scores && n.returns_masked_scores));
  const auto inputs = inputs_of<sinking>();
  const signature s = signature_of(n, inputs.data(), static_cast<int>(inputs.size()));
  REQUIRE(s.tensor_count == 10);
  const char *names[] = {"query", "key", "value", "output", "lse", "scaled_scores", "masked_scores", "boolean_mask", "sinks", "key_lengths"};
  for (int i = 0; i < s.tensor_count; ++i) CHECK(std::string(s.tensors[i].name) == names[i]);
  CHECK((s.tensors[6].written && s.tensors[6].rank == 4 && s.tensors[8].rank == 1 && s.tensors[8].axes[0].extent == 4));
}

TEST_CASE("sigmoid in softmax's place") {
  constexpr numbers n = sigmoidal::spec;
  CHECK((n.weights == weighting::sigmoid && n.sigmoid_bias.kind == setting::fixed && n.sigmoid_bias.value == -3.5));
  CHECK((n.returns_weights && n.returns_capped_scores && !n.returns_lse && !n.sinks));
}

TEST_CASE("projections") {
  constexpr numbers self = self_layer::spec;
  CHECK((self.source == source_kind::projection && self.model_dim == 96 && self.context_dim == 0 && self.output_dim == 64));
  CHECK((self.projection_bias && !self.output_bias && self.same_extents));
  CHECK(self.causal == causal_alignment::diagonal);
  constexpr numbers cross = cross_layer::spec;
  CHECK((cross.source == source_kind::cross_projection && cross.context_dim == 20 && cross.output_dim == 96));
  CHECK((!cross.projection_bias && cross.output_bias && !cross.same_extents));
  constexpr numbers plain = cross_without_context_dim::spec;
  CHECK((plain.context_dim == 96 && plain.output_dim == 0));
}

TEST_CASE("the scale is the correctly rounded 1 / sqrt(head_dim)") {
  for (int d = 1; d <= 4096; ++d) {
    const double exact = static_cast<double>(1 / std::sqrt(static_cast<long double>(d)));
    REQUIRE(language::reciprocal_root(d) == exact);
  }
}

namespace {
struct blocks_and_biases {
  static constexpr auto spec = attention(heads<12>, head_dim<8>, element<f32>, relative_bias<32, 128, bidirectional>, alibi<slopes>, documents<ids>, block_sparse<64, 32, axis::head>,
                                         sliding_window<runtime, 7>);
};
struct packed {
  static constexpr auto spec = attention(heads<2>, head_dim<8>, element<f32>, self_attention, causal<>, documents<offsets>, alibi<>);
};
} // namespace

TEST_CASE("properties bring inputs and functions of their own") {
  constexpr numbers n = blocks_and_biases::spec;
  CHECK((n.query_block == 64 && n.key_block == 32 && n.bias_buckets == 32));
  CHECK((n.window.kind == setting::at_call && n.window_right.kind == setting::fixed && n.window_right.value == 7));
  const std::vector<input_declaration> inputs = inputs_of<blocks_and_biases>();
  const std::vector<std::string> names{"bias_table", "alibi_slopes", "query_documents", "key_documents", "block_table"};
  REQUIRE(inputs.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(inputs[i].name == names[i]);
  CHECK((inputs[4].element == element_type::boolean && inputs[4].rank == 3 && inputs[4].axes[0] == axis_name::head && inputs[4].axes[2] == axis_name::key_block));
  const signature call = signature_of(n, inputs.data(), static_cast<int>(inputs.size()));
  CHECK(call.tensors[4].axes[1].extent == 32);
  CHECK((call.number_count == 1 && call.call_numbers[0] == number_role::window));
  REQUIRE(inputs_of<packed>().size() == 1);
  CHECK((inputs_of<packed>()[0].role == tensor_role::query_offsets && inputs_of<packed>()[0].name == std::string("sequence_offsets")));
}

// Short forms are chains: the same flat type with the same numbers.
#include "dsl/spec.hpp"
#include <catch2/catch.hpp>

namespace {
using namespace attune;

struct slope {};
struct window { template <class At> constexpr auto operator()(At at) const { return at.query - at.key < 1024; } };
struct falling {
  template <class S, class At> constexpr auto operator()(S s, At at) const {
    return s - at(slope{}, at.head) * (at.query - at.key);
  }
};

struct chain_of_operands {
  static constexpr auto spec = operands(heads<8>, kv_heads<4>, head_dim<64>, element<bf16>, input<slope>(f32, axis::head)) |
                               scores(scale<1, 16>, softcap<50>, falling{}) |
                               mask(causal<align::bottom_right>, boolean<axis::key>, window{}) | softmax(empty_rows<zero>) |
                               weighted_sum(returns<lse>);
};
struct short_form_of_operands {
  static constexpr auto spec = attention(window{}, returns<lse>, element<bf16>, falling{}, softcap<50>, boolean<axis::key>,
                                         input<slope>(f32, axis::head), causal<align::bottom_right>, head_dim<64>, kv_heads<4>,
                                         heads<8>, empty_rows<zero>, scale<1, 16>);
};
struct chain_of_layer {
  static constexpr auto spec = project(model_dim<384>, heads<12>, head_dim<32>, element<f32>, bias) | scores() |
                               mask(key_lengths) | softmax() | weighted_sum(masked_values<anything>) | project_out(bias);
};
struct short_form_of_layer {
  static constexpr auto spec =
      layer(bias, key_lengths, masked_values<anything>, model_dim<384>, heads<12>, head_dim<32>, element<f32>);
};

constexpr bool equal(setting a, setting b) { return a.kind == b.kind && a.value == b.value; }
constexpr bool equal(const numbers &a, const numbers &b) {
  return a.element == b.element && a.source == b.source && a.heads == b.heads && a.kv_heads == b.kv_heads &&
         a.head_dim == b.head_dim && a.value_dim == b.value_dim && a.model_dim == b.model_dim &&
         a.context_dim == b.context_dim && a.output_dim == b.output_dim && a.projection_bias == b.projection_bias &&
         a.output_bias == b.output_bias && a.same_extents == b.same_extents && equal(a.scale, b.scale) &&
         equal(a.softcap, b.softcap) && a.causal == b.causal && equal(a.window, b.window) && a.key_lengths == b.key_lengths &&
         a.empty_rows == b.empty_rows && a.masked_values == b.masked_values && a.layout == b.layout &&
         a.returns_lse == b.returns_lse && a.returns_weights == b.returns_weights;
}
} // namespace

TEST_CASE("attention(...) is the usual chain of operands") {
  STATIC_REQUIRE(std::is_same_v<decltype(chain_of_operands::spec), decltype(short_form_of_operands::spec)>);
  STATIC_REQUIRE(equal(chain_of_operands::spec, short_form_of_operands::spec));
}

TEST_CASE("layer(...) is the usual chain of projections") {
  STATIC_REQUIRE(std::is_same_v<decltype(chain_of_layer::spec), decltype(short_form_of_layer::spec)>);
  STATIC_REQUIRE(equal(chain_of_layer::spec, short_form_of_layer::spec));
}

// The canonical text, and the hash over it.
#include "dsl/pipeline/describe.hpp"
#include <catch2/catch.hpp>

namespace {
using namespace attune;

template <class Spec> std::string text() { return canonical_text(describe<Spec>()); }

struct gpt2 {
  static constexpr auto spec =
      operands(heads<12>, head_dim<64>, element<f32>) | mask(causal<align::bottom_right>) | softmax() | weighted_sum();
};
struct gpt2_by_another_name {
  static constexpr auto spec = attention(causal<align::bottom_right>, element<f32>, scale<1, 8>, kv_heads<12>, head_dim<64>,
                                         heads<12>, empty_rows<zero>);
};
struct cached {
  static constexpr auto spec = attention(heads<8>, kv_heads<2>, head_dim<64>, element<bf16>, kv_element<int8>, kv_scale<per_token>, paged<16>, causal<align::bottom_right>);
};
struct cached_as_stored { static constexpr auto spec = attention(heads<12>, head_dim<64>, element<f32>, kv_element<f32>, causal<align::bottom_right>); };
struct turned { static constexpr auto spec = attention(heads<12>, head_dim<64>, element<f32>, dims<32>, causal<align::bottom_right>); };
struct turned_by_default { static constexpr auto spec = attention(heads<12>, head_dim<64>, element<f32>, theta<10000>, dims<32>, pairing<half>, causal<align::bottom_right>); };
struct slope {};
struct variant {
  static constexpr auto spec =
      operands(heads<16>, kv_heads<4>, head_dim<128>, element<f16>, input<slope>(f32, axis::head)) |
      scores(scale<runtime>, softcap<61, 2>, [](auto s, auto at) { return s - at(slope{}, at.head) * (at.query - at.key); }) |
      mask([](auto at) { return at.query - at.key < 1024; }) | softmax() | weighted_sum(returns<lse>);
};
struct some_layer {
  static constexpr auto spec = layer(bias, model_dim<384>, heads<12>, head_dim<32>, element<bf16>, causal<>, scale<2>);
};

// Specs that differ in one function.
constexpr auto with = [](auto f) { return attention(heads<1>, head_dim<8>, element<f32>, f); };
struct doubled { static constexpr auto spec = with([](auto s, auto) { return s * 2; }); };
struct doubled_from_left { static constexpr auto spec = with([](auto s, auto) { return 2 * s; }); };
struct last_digit_7 { static constexpr auto spec = with([](auto s, auto) { return s * 0.1234567f; }); };
struct last_digit_8 { static constexpr auto spec = with([](auto s, auto) { return s * 0.1234568f; }); };
struct diagonal_self { static constexpr auto spec = attention(self_attention, heads<1>, head_dim<8>, element<f32>, causal<>); };
struct bottom_right_self {
  static constexpr auto spec = attention(self_attention, heads<1>, head_dim<8>, element<f32>, causal<align::bottom_right>);
};
} // namespace

TEST_CASE("the text says all that a kernel depends on") {
  CHECK(text<variant>() == "operands heads=16 kv_heads=4 head_dim=128 value_dim=128 element=f16 extents=free layout=bhsd\n"
                           "input slope f32 [head]\n"
                           "scores scale=runtime softcap=30.5\n"
                           "  score := ((float32)score - ((float32)slope(head)*float32(query - key)))\n"
                           "mask causal=off sliding_window=off key_lengths=no\n"
                           "  attend if (query < (key + 1024))\n"
                           "softmax empty_rows=zero\n"
                           "weighted_sum masked_values=finite lse=yes weights=no\n");
  CHECK(text<some_layer>() ==
        "project model_dim=384 bias=yes heads=12 kv_heads=12 head_dim=32 value_dim=32 element=bf16 extents=same layout=bhsd\n"
        "scores scale=2 softcap=off\n"
        "mask causal=diagonal sliding_window=off key_lengths=no\n"
        "softmax empty_rows=zero\n"
        "weighted_sum masked_values=finite lse=no weights=no\n"
        "project_out model_dim=384 bias=yes\n");
}

TEST_CASE("a cache: its form, and the diagonal that pages imply") {
  CHECK(text<cached>() == "operands heads=8 kv_heads=2 head_dim=64 value_dim=64 element=bf16 extents=free layout=bhsd\n"
                          "cache element=int8 scale=per_token page_size=16\n"
                          "scores scale=0.125 softcap=off\n"
                          "mask causal=at_length sliding_window=off key_lengths=yes\n"
                          "softmax empty_rows=zero\n"
                          "weighted_sum masked_values=finite lse=no weights=no\n");
  CHECK(text<cached_as_stored>() == text<gpt2>());
}

TEST_CASE("a rotary embedding has a line of its own") {
  CHECK(text<turned>() == text<turned_by_default>());
  CHECK(text<turned>().find("rope dims=32 theta=10000 pairing=half position_offsets=no keys_rotated=no\n") != std::string::npos);
}

TEST_CASE("the name is not part of it, nor how a spec is spelt") {
  CHECK(describe<gpt2>().name != describe<gpt2_by_another_name>().name);
  CHECK(text<gpt2>() == text<gpt2_by_another_name>());
  CHECK(text<diagonal_self>() == text<bottom_right_self>());
  CHECK(text<doubled>() == text<doubled_from_left>());
}

TEST_CASE("constants count to their last digit") { CHECK(text<last_digit_7>() != text<last_digit_8>()); }

TEST_CASE("hashes are those of earlier builds and of other compilers") {
  CHECK(spec_hash(describe<gpt2>()) == "d8fa5e19f2a98100");
  CHECK(spec_hash(describe<variant>()) == "06f6613f796f307d");
  CHECK(spec_hash(describe<some_layer>()) == "6caef58cdebc7a74");
}

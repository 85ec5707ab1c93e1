// The C ABI: the same calls by name, with DLPack tensors.
#include "fake_library.hpp"
#include "runtime/c_abi.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <string>

using namespace attune;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

/// A DLTensor with its shape. Type codes as in DLPack: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool.
struct dl_tensor {
  std::vector<std::int64_t> shape, strides;
  attune_dl_tensor t = {};

  dl_tensor(void *data, std::vector<std::int64_t> extents, std::uint8_t code = 2, std::uint8_t bits = 32) : shape(std::move(extents)) {
    t.data = data;
    t.device.device_type = 1;
    t.ndim = static_cast<std::int32_t>(shape.size());
    t.dtype.code = code;
    t.dtype.bits = bits;
    t.dtype.lanes = 1;
    t.shape = shape.data();
  }
};

/// A call of fake::masked in its layout, bshd: 2 batches, 3 queries, 5 keys.
struct named_call {
  std::vector<float> q = std::vector<float>(2 * 3 * 4 * 3), k = std::vector<float>(2 * 5 * 2 * 3), v = std::vector<float>(2 * 5 * 2 * 2),
                     out = std::vector<float>(2 * 3 * 4 * 2, -1.0f), bias = std::vector<float>(3 * 5);
  std::uint8_t allowed[10] = {};
  std::int32_t lengths[2] = {5, 5};
  dl_tensor dq{q.data(), {2, 3, 4, 3}}, dk{k.data(), {2, 5, 2, 3}}, dv{v.data(), {2, 5, 2, 2}}, dout{out.data(), {2, 3, 4, 2}}, dallowed{allowed, {2, 5}, 6, 8},
      dbias{bias.data(), {3, 5}}, dlengths{lengths, {2}, 0, 32};
  std::vector<attune_named_tensor> tensors = {{"key_lengths", &dlengths.t, nullptr}, {"output", &dout.t, nullptr}, {"query", &dq.t, nullptr}, {"key", &dk.t, nullptr},
                                              {"value", &dv.t, nullptr},            {"bias", &dbias.t, nullptr},  {"allowed", &dallowed.t, nullptr}};
  std::vector<attune_named_number> numbers = {{"window", 3}, {"scale", 0.5}, {"softcap", 20}};
  attune_options options = {};
  char message[1000] = "";

  named_call() {
    fake::forget();
    options.size = sizeof options;
  }
  int run(const char *spec = "fake::masked") { return attune_call(spec, tensors.data(), tensors.size(), numbers.data(), numbers.size(), &options, message, sizeof message); }
  void fails(error_code code, const std::string &part, const char *spec = "fake::masked") {
    CHECK(std::string(attune_error_name(run(spec))) == name_of(code));
    CHECK_THAT(message, Contains(part));
    CHECK(fake::last().calls == 0);
    for (float x : out) REQUIRE(x == -1);
  }
};

} // namespace

TEST_CASE_METHOD(named_call, "a call by name, in any order, in the spec's layout") {
  for (float &x : q) x = 4;
  REQUIRE(run() == 0);
  CHECK(std::string(message).empty());
  const fake::recording r = fake::last();
  CHECK(r.read[0].axes == std::vector<halide_dimension_t>{{0, 3, 1}, {0, 3, 12}, {0, 4, 3}, {0, 2, 36}});
  CHECK(r.reals == std::vector<float>{0.5f, 20});
  CHECK(r.integers == std::vector<std::int32_t>{3});
  for (float x : out) REQUIRE(x == 8);
}

TEST_CASE_METHOD(named_call, "strides, byte offset, batch left out, uint8 masks, options") {
  dq.strides = {1000, 12, 3, 1};
  dq.shape[0] = 1;
  dq.t.strides = dq.strides.data();
  dq.t.data = reinterpret_cast<char *>(q.data()) - 16;
  dq.t.byte_offset = 16;
  dk.shape[0] = dv.shape[0] = dout.shape[0] = dallowed.shape[0] = dlengths.shape[0] = 1;
  dallowed.t.dtype.code = 1;
  dk.t.ndim = 3;
  dk.t.shape = dk.shape.data() + 1;
  options.target = info_of(fake::least_target()).name;
  options.threads = 2;
  const int code = run();
  INFO(message);
  REQUIRE(code == 0);
  const fake::recording r = fake::last();
  CHECK(r.read[0].host == q.data());
  CHECK(r.read[1].axes.back() == halide_dimension_t(0, 1, 0));
  CHECK(r.target == fake::least_target());
  CHECK(r.threads == 2);
  CHECK(attune_call("fake::masked", tensors.data(), tensors.size(), numbers.data(), numbers.size(), nullptr, nullptr, 0) == 0);
  options.size = offsetof(attune_options, threads); // an older caller
  REQUIRE(run() == 0);
  CHECK(fake::last().threads == 0);
}

TEST_CASE_METHOD(named_call, "strides of tensors without elements are ignored") {
  for (dl_tensor *t : {&dk, &dv, &dallowed, &dbias}) { // numpy's strides of such arrays
    t->strides.assign(t->shape.size(), 0);
    t->t.strides = t->strides.data();
  }
  dk.shape[1] = dv.shape[1] = dallowed.shape[1] = dbias.shape[1] = 0;
  lengths[0] = lengths[1] = 0;
  const int code = run();
  INFO(message);
  CHECK(code == 0);
  for (float x : out) REQUIRE(x == 0);
  dk.strides[2] = -3;
  CHECK(run() == 0);
  dk.shape[3] = 2;
  CHECK(run() == static_cast<int>(error_code::wrong_extent));
}

TEST_CASE_METHOD(named_call, "what a name can get wrong") {
  SECTION("spec") { fails(error_code::unknown_spec, "There is no spec \"gpt5\". There are: fake::plain, fake::masked", "gpt5"); }
  SECTION("a spec, nearly") {
    const std::string near = "Did you mean \"fake::masked\"? attune_specs lists all 10";
    for (const char *name : {"masked", "fake::maskd", "fake:masked", "fakes::masked", "stock::maskde"}) {
      fails(error_code::unknown_spec, near, name);
      CHECK(std::string(message).find("fake::plain") == std::string::npos);
    }
  }
  SECTION("tensor") {
    tensors[0].name = "lengths";
    fails(error_code::unknown_name, "there is no tensor \"lengths\". There are: query, key, value, output, allowed, bias, key_lengths");
  }
  SECTION("twice") {
    tensors[0] = tensors[1];
    fails(error_code::wrong_count, "tensor output was passed twice");
  }
  SECTION("missing") {
    tensors.pop_back();
    fails(error_code::missing_tensor, "tensor allowed was not passed. Its axes are [batch, key]");
  }
  SECTION("null") {
    tensors[2].tensor = nullptr;
    fails(error_code::missing_tensor, "tensor query was passed as NULL");
  }
  SECTION("bytes") {
    attune_dl_tensor bytes = *tensors[2].tensor;
    bytes.dtype = {1, 8, 1};
    tensors[2].tensor = &bytes;
    fails(error_code::wrong_element, "tensor query: expected f32 elements, got u8");
  }
  SECTION("number") {
    numbers[0].name = "slope";
    fails(error_code::unknown_name, "there is no number \"slope\". There are: scale, softcap, window");
  }
  SECTION("missing number") {
    numbers.pop_back();
    fails(error_code::wrong_count, "number softcap was not passed");
  }
  SECTION("no name") {
    tensors[1].name = nullptr;
    fails(error_code::unknown_name, "the name of tensor number 2 is NULL");
    fails(error_code::unknown_spec, "The name of the spec was passed as NULL", nullptr);
  }
  SECTION("no list") {
    CHECK(attune_call("fake::masked", nullptr, 7, nullptr, 3, nullptr, message, sizeof message) == static_cast<int>(error_code::wrong_count));
    CHECK_THAT(message, Contains("7 tensors were announced, but the list of them is NULL"));
  }
  SECTION("options whose size was not set") {
    options.threads = 1;
    options.size = 0;
    fails(error_code::bad_option, "options: size is 0, expected sizeof(attune_options)");
    options.size = sizeof options.size;
    fails(error_code::bad_option, "options: size is 8");
  }
  SECTION("threads") {
    options.threads = -2;
    fails(error_code::bad_option, "fake::masked: the option threads is -2, expected 1 or more, or 0 for the default");
  }
  SECTION("target") {
    options.target = "sse2";
    fails(error_code::unknown_target, "there is no target \"sse2\". There are: avx2, ");
  }
}

TEST_CASE_METHOD(named_call, "what a tensor can get wrong") {
  SECTION("device") {
    dq.t.device.device_type = 2;
    fails(error_code::unsupported_device, "tensor query is on device type 2");
  }
  SECTION("element") {
    dq.t.dtype.bits = 64;
    fails(error_code::wrong_element, "tensor query: expected f32 elements, got f64. Convert them to f32 before the call");
  }
  SECTION("key lengths as they come from Python") {
    dlengths.t.dtype.bits = 64;
    fails(error_code::wrong_element, "tensor key_lengths: expected i32 elements, got i64. Convert them to i32 before the call");
    dlengths.t.dtype.code = 2;
    fails(error_code::wrong_element, "tensor key_lengths: expected i32 elements, got f64. Convert them to i32");
    dlengths.t.dtype.bits = 32;
    fails(error_code::wrong_element, "tensor key_lengths: expected i32 elements, got f32. Convert them to i32");
  }
  SECTION("an element without a short name") {
    dq.t.dtype.code = 7;
    dq.t.dtype.bits = 8;
    dq.t.dtype.lanes = 4;
    fails(error_code::wrong_element, "got DLPack type code 7 with 8 bits with 4 lanes");
  }
  SECTION("another element that the ABI knows") {
    dq.t.dtype.code = 4;
    dq.t.dtype.bits = 16;
    fails(error_code::wrong_element, "tensor query: expected f32 elements, got bf16");
  }
  SECTION("axes") {
    dq.t.ndim = 2;
    fails(error_code::wrong_axis, "tensor query: expected 4 axes [batch, query, head, head_dim], got 2. Batch may be left out");
    dq.t.ndim = 4;
    dbias.t.ndim = 1;
    fails(error_code::wrong_axis, "tensor bias: expected 2 axes [query, key], got 1.");
    CHECK(std::string(message).find("Batch") == std::string::npos);
  }
  SECTION("shape") {
    dk.t.shape = nullptr;
    fails(error_code::wrong_extent, "tensor key has no shape (NULL)");
  }
  SECTION("extents") {
    dk.shape[1] = 4;
    fails(error_code::wrong_extent, "tensor value: axis key: expected 4 (as in tensor key), got 5");
  }
  SECTION("a short message buffer is cut and closed") {
    dk.shape[1] = 4;
    CHECK(attune_call("fake::masked", tensors.data(), tensors.size(), numbers.data(), numbers.size(), &options, message, 8) != 0);
    CHECK(std::string(message) == "fake::m");
  }
}

TEST_CASE("weights are packed and used through the C ABI") {
  fake::forget();
  std::vector<float> zero(500);
  dl_tensor query{zero.data(), {4, 3, 5}}, key{zero.data(), {2, 3, 6}}, value{zero.data(), {2, 2, 6}}, output{zero.data(), {4, 2, 7}}, bias{zero.data(), {7}};
  const attune_named_tensor weights[] = {{"query_weight", &query.t, nullptr}, {"key_weight", &key.t, nullptr}, {"value_weight", &value.t, nullptr}, {"output_weight", &output.t, nullptr},
                                         {"output_bias", &bias.t, nullptr}};
  char message[1000] = "";
  attune_packed_weights *packed = nullptr;
  CHECK(attune_pack_weights("fake::crossed", weights, 4, nullptr, &packed, message, sizeof message) == static_cast<int>(error_code::missing_tensor));
  CHECK(packed == nullptr);
  CHECK_THAT(message, Contains("output_bias was not given"));
  CHECK(attune_pack_weights("fake::crossed", weights, 5, nullptr, nullptr, message, sizeof message) == static_cast<int>(error_code::missing_tensor));
  REQUIRE(attune_pack_weights("fake::crossed", weights, 5, nullptr, &packed, message, sizeof message) == 0);
  REQUIRE(packed);

  std::vector<float> hidden(2 * 3 * 5, 1.0f), context(2 * 4 * 6), out(2 * 3 * 7), lse(2 * 4 * 3);
  dl_tensor dhidden{hidden.data(), {2, 3, 5}}, dcontext{context.data(), {2, 4, 6}}, dout{out.data(), {2, 3, 7}}, dlse{lse.data(), {2, 4, 3}};
  attune_named_tensor tensors[] = {{"hidden", &dhidden.t, nullptr}, {"context", &dcontext.t, nullptr}, {"weights", nullptr, packed}, {"output", &dout.t, nullptr}, {"lse", &dlse.t, nullptr}};
  CHECK(attune_call("fake::crossed", tensors, 5, nullptr, 0, nullptr, message, sizeof message) == 0);
  CHECK(out[0] == 2);
  tensors[2].weights = nullptr;
  CHECK(attune_call("fake::crossed", tensors, 5, nullptr, 0, nullptr, message, sizeof message) == static_cast<int>(error_code::missing_tensor));
  CHECK_THAT(message, Contains("tensor weights takes packed weights, made by attune_pack_weights"));
  std::swap(tensors[2], tensors[4]);
  CHECK(attune_call("fake::crossed", tensors, 4, nullptr, 0, nullptr, message, sizeof message) == static_cast<int>(error_code::missing_tensor));
  CHECK_THAT(message, Contains("tensor weights was not passed. Make it once with attune_pack_weights"));
  attune_free_weights(packed);
  attune_free_weights(nullptr);
}

TEST_CASE("specs, texts, targets and codes can be asked for") {
  const char *names[20] = {};
  const size_t count = attune_specs(names, 20);
  REQUIRE(count == 10);
  CHECK(std::string(names[1]) == "fake::masked");
  CHECK(attune_specs(nullptr, 0) == 10);

  char text[4000];
  const size_t bytes = attune_spec_text("fake::masked", text, sizeof text);
  CHECK(bytes == std::strlen(text) + 1);
  CHECK_THAT(text, Contains("\"hash\": \"2222222222222222\"") && Contains("{\"name\": \"query\", \"element\": \"f32\", \"written\": false, "
                                                                          "\"axes\": [\"batch\", \"query\", \"head\", \"head_dim\"], \"extents\": [-1, -1, 4, 3]}") &&
                       Contains("\"numbers\": [\"scale\", \"softcap\", \"window\"]") && Contains("{\"target\": \"avx2\", \"kernels\": [{\"max_queries\": null, \"max_keys\": null, \"schedule\": \"by hand\"}]}"));
  CHECK(attune_spec_text("fake::masked", nullptr, 0) == bytes);
  CHECK(attune_spec_text("none", text, sizeof text) == 0);
  CHECK(attune_spec_text(nullptr, text, sizeof text) == 0);
  CHECK(attune_targets("none", text, sizeof text) == 0);
  CHECK(attune_targets(nullptr, text, sizeof text) > 0);
  CHECK_THAT(text, Contains("{\"name\": \"opencl\", \"in_build\": false"));
  CHECK(attune_set_default_target("sse2", text, sizeof text) == static_cast<int>(error_code::unknown_target));
  CHECK_THAT(text, StartsWith("attune_set_default_target: there is no target \"sse2\". There are: avx2, avx512, "));
  CHECK(attune_set_default_target(info_of(fake::least_target()).name, text, sizeof text) == 0);
  CHECK(attune_set_default_target("sse2", nullptr, 0) == static_cast<int>(error_code::unknown_target));
  CHECK(attune_set_default_target(nullptr, nullptr, 0) == 0);
  CHECK(std::string(attune_error_name(0)) == "ok");
  CHECK(std::string(attune_error_name(-1)) == "unknown");
  attune_release_workspace();
  CHECK(attune_workspace_bytes() < (1u << 30));
}

TEST_CASE("appending to a cache by name, in the spec's layout") { // fake::masked: bshd, 2 key heads, head_dim 3, value_dim 2
  std::vector<float> keys(2 * 5 * 2 * 3), values(2 * 5 * 2 * 2);
  std::vector<float> new_keys(2 * 1 * 2 * 3), new_values(2 * 1 * 2 * 2);
  for (std::size_t i = 0; i < new_keys.size(); ++i) new_keys[i] = static_cast<float>(i + 1);
  std::int32_t lengths[2] = {4, 0};
  dl_tensor dk{keys.data(), {2, 5, 2, 3}}, dv{values.data(), {2, 5, 2, 2}}, dlengths{lengths, {2}, 0, 32}, dnew_k{new_keys.data(), {2, 1, 2, 3}}, dnew_v{new_values.data(), {2, 1, 2, 2}};
  std::vector<attune_named_tensor> tensors = {{"key", &dk.t, nullptr}, {"value", &dv.t, nullptr}, {"key_lengths", &dlengths.t, nullptr}, {"new_key", &dnew_k.t, nullptr}, {"new_value", &dnew_v.t, nullptr}};
  char message[1000] = "";
  const auto run = [&] { return attune_append("fake::masked", tensors.data(), tensors.size(), message, sizeof message); };
  const auto fails = [&](error_code code, const std::string &part) {
    const std::vector<float> before = keys;
    CHECK(std::string(attune_error_name(run())) == name_of(code));
    CHECK_THAT(message, Contains(part));
    CHECK(keys == before);
  };
  const int code = run();
  INFO(message);
  REQUIRE(code == 0);
  CHECK(lengths[0] == 5);
  CHECK(lengths[1] == 1);
  for (std::size_t i = 0; i < 6; ++i) { // a token's heads lie together
    CHECK(keys[4 * 6 + i] == new_keys[i]);
    CHECK(keys[5 * 6 + i] == new_keys[6 + i]);
  }
  fails(error_code::bad_lengths, "batch 0 holds 5 keys and gets 1 more, but there is room for 5");
  dk.t.dtype.bits = 16;
  fails(error_code::wrong_element, "tensor key: expected f32 elements, got f16");
  dk.t.dtype.bits = 32;
  tensors.back().name = "new_values";
  fails(error_code::unknown_name, "there is no tensor \"new_values\". There are: key, value, key_lengths, new_key");
  tensors.back().name = "page_table";
  fails(error_code::wrong_count, "the spec has no page_table");
  tensors.pop_back();
  fails(error_code::missing_tensor, "tensor new_value was not passed");
  CHECK(attune_append("fake::layer", tensors.data(), tensors.size(), message, sizeof message) == static_cast<int>(error_code::unknown_spec));
}

TEST_CASE_METHOD(named_call, "DLPack's 8-bit elements have their names") {
  dk.t.dtype.bits = 8;
  for (const auto &[code, name] : {std::pair{0, "int8"}, {10, "e4m3"}, {12, "e5m2"}}) {
    dk.t.dtype.code = static_cast<std::uint8_t>(code);
    fails(error_code::wrong_element, std::string("tensor key: expected f32 elements, got ") + name);
  }
}

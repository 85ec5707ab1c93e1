// Every way a call can be wrong: its code, a text that names the culprit, and no output touched.
#include "fake_library.hpp"
#include "runtime/bind.hpp"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>

using namespace attune;
using namespace attune::axes;
using Catch::Matchers::Contains;

namespace {

/// A call of fake::masked whose parts a test may spoil. 2 batches, 3 queries, 5 keys.
struct masked_call {
  tensor<float, batch<>, head<4>, query<>, head_dim<3>> q{2, 3};
  tensor<float, batch<>, kv_head<2>, key<>, head_dim<3>> k{2, 5};
  tensor<float, batch<>, kv_head<2>, key<>, value_dim<2>> v{2, 5};
  tensor<float, batch<>, head<4>, query<>, value_dim<2>> out{2, 3};
  tensor<bool, batch<>, key<>> allowed{2, 5};
  tensor<float, query<>, key<>> bias{3, 5};
  tensor<std::int32_t, batch<>> lengths{2};
  tensor_ref refs[7];
  double values[3] = {0.5, 30, 4};

  masked_call() {
    fake::forget();
    for (float &x : out) x = -1;
    refs[0] = erase(q), refs[1] = erase(k), refs[2] = erase(v), refs[3] = erase(out), refs[4] = erase(allowed), refs[5] = erase(bias), refs[6] = erase(lengths);
  }
  void set_batch(std::int64_t batch) {
    for (tensor_ref &r : refs)
      if (r.axes[0] == axis_name::batch) r.extent[0] = batch;
  }
  status run(int tensors = 7, int numbers = 3) { return call(artefact<fake::masked>::info(), refs, tensors, values, numbers, {}); }

  /// The call fails so, says so, and writes nothing.
  void fails(error_code code, const std::string &part, int tensors = 7, int numbers = 3) {
    const status s = run(tensors, numbers);
    CHECK(name_of(s.code) == std::string(name_of(code)));
    CHECK_THAT(s.message(), Contains(part) && Contains("fake::masked"));
    CHECK(fake::last().calls == 0);
    for (float x : out) REQUIRE(x == -1);
  }
};

} // namespace

TEST_CASE_METHOD(masked_call, "a right call runs") {
  REQUIRE(run());
  CHECK(fake::last().calls == 1);
}

TEST_CASE_METHOD(masked_call, "counts") {
  fails(error_code::wrong_count, "expected 7 tensors and 3 numbers, got 6 and 3", 6, 3);
  fails(error_code::wrong_count, "expected 7 tensors and 3 numbers, got 7 and 2", 7, 2);
}

TEST_CASE_METHOD(masked_call, "axes") {
  SECTION("foreign") {
    refs[1].axes[1] = axis_name::head;
    fails(error_code::wrong_axis, "tensor key has no axis head. Its axes are [batch, kv_head, key, head_dim]");
  }
  SECTION("twice") {
    refs[0].axes[0] = axis_name::query;
    fails(error_code::wrong_axis, "tensor query was passed with axis query twice");
  }
  SECTION("missing") {
    refs[2].rank = 3;
    fails(error_code::wrong_axis, "tensor value was passed without axis value_dim");
  }
  SECTION("an output without the batch that the others have") {
    refs[3] = erase(view<float, head<4>, query<>, value_dim<2>>(out.data(), 3));
    fails(error_code::wrong_axis, "tensor output has no batch axis, but query has batch 2");
  }
}

TEST_CASE_METHOD(masked_call, "extents") {
  SECTION("fixed by the spec") {
    refs[1].extent[3] = 4;
    fails(error_code::wrong_extent, "tensor key: axis head_dim: expected 3 (fixed by the spec), got 4. Its axes are [batch, key, kv_head, head_dim]");
  }
  SECTION("between tensors") {
    refs[2].extent[2] = 6;
    fails(error_code::wrong_extent, "tensor value: axis key: expected 5 (as in tensor key), got 6");
  }
  SECTION("one where the others have more is no broadcast") {
    refs[5].extent[0] = 1;
    fails(error_code::wrong_extent, "tensor bias: axis query: expected 3 (as in tensor query), got 1");
  }
  SECTION("a mask's keys") {
    refs[4].extent[1] = 4;
    fails(error_code::wrong_extent, "tensor allowed: axis key: expected 5 (as in tensor key), got 4");
  }
  SECTION("negative") {
    refs[0].extent[2] = -3;
    fails(error_code::wrong_extent, "negative extent -3");
  }
  SECTION("beyond 31 bits") {
    refs[0].extent[0] = std::int64_t{1} << 31;
    fails(error_code::too_large, "tensor query: axis batch has extent 2147483648");
  }
}

TEST_CASE_METHOD(masked_call, "elements, strides and addresses") {
  SECTION("element") {
    refs[0].element = element_type::f16;
    fails(error_code::wrong_element, "tensor query: expected f32 elements, got f16");
  }
  SECTION("read-only output") {
    refs[3] = erase(view<const float, batch<>, head<4>, query<>, value_dim<2>>(out.data(), 2, 3));
    fails(error_code::not_writable, "tensor output is written by the kernel");
  }
  SECTION("negative stride") {
    refs[1].stride[2] = -3;
    fails(error_code::wrong_stride, "tensor key: axis key has the negative stride -3");
  }
  SECTION("last axis not contiguous") {
    refs[2].stride[3] = 2;
    fails(error_code::wrong_stride, "tensor value: axis value_dim must be contiguous: expected stride 1, got 2");
  }
  SECTION("stride beyond 31 bits") {
    refs[2].stride[0] = std::int64_t{1} << 40;
    fails(error_code::too_large, "tensor value: axis batch");
  }
  SECTION("a tensor that reaches beyond 31 bits") {
    refs[1].stride[2] = std::int64_t{1} << 29; // 5 keys
    CHECK(run());
  }
  SECTION("which code for devices cannot count") {
    refs[1].stride[2] = std::int64_t{1} << 29;
    bound_call c;
    REQUIRE(bind(artefact<fake::masked>::info(), refs, 7, values, 3, c));
    const status s = check_31_bits(artefact<fake::masked>::info(), c);
    CHECK(s.code == error_code::too_large);
    CHECK_THAT(s.message(), Contains("tensor key reaches over more than 2147483647 elements, which code for devices and for projections cannot count"));
  }
  SECTION("a tensor that reaches beyond any memory") {
    set_batch(1 << 22);
    refs[1].stride[0] = std::int64_t{1} << 30;
    fails(error_code::too_large, "tensor key: axis batch of extent 4194304 and stride 1073741824 reaches further than memory does");
  }
  SECTION("more rows than a call can count") {
    set_batch(1 << 29);
    fails(error_code::too_large, "batch 536870912, 3 queries and 5 keys are more than one call can count");
  }
  SECTION("null") {
    refs[6].data = nullptr;
    fails(error_code::missing_tensor, "tensor key_lengths has no data");
  }
  SECTION("misaligned") {
    refs[0].data = reinterpret_cast<char *>(q.data()) + 2;
    fails(error_code::misaligned, "tensor query: its address is not a multiple of 4 bytes");
  }
}

TEST_CASE_METHOD(masked_call, "overlap") {
  SECTION("of output and input") {
    refs[3].data = q.data();
    fails(error_code::overlap, "tensor output is written and shares memory with tensor query");
  }
  SECTION("of an output with itself") {
    refs[3].stride[0] = 0;
    fails(error_code::overlap, "lead two of its indices to one element");
  }
  SECTION("inputs may share memory") {
    refs[1].data = q.data();
    CHECK(run());
  }
}

TEST_CASE_METHOD(masked_call, "numbers") {
  SECTION("scale") {
    values[0] = std::nan("");
    fails(error_code::bad_number, "number scale is nan");
  }
  SECTION("scale too large for f32") {
    values[0] = 1e39;
    fails(error_code::bad_number, "number scale is 1e+39");
  }
  SECTION("softcap") {
    values[1] = 0;
    fails(error_code::bad_number, "number softcap is 0, expected one above 0");
  }
  SECTION("window below 0") {
    values[2] = -1;
    fails(error_code::bad_number, "number window is -1");
  }
  SECTION("window with a fraction") {
    values[2] = 1.5;
    fails(error_code::bad_number, "number window is 1.5, expected a whole number");
  }
}

TEST_CASE_METHOD(masked_call, "key lengths") {
  lengths(0) = 5;
  SECTION("above the keys") {
    lengths(1) = 6;
    fails(error_code::bad_lengths, "batch 1 has length 6, expected 0 to 5");
  }
  SECTION("below 0") {
    lengths(1) = -1;
    fails(error_code::bad_lengths, "batch 1 has length -1");
  }
}

TEST_CASE("empty rows that the spec makes an error are found before anything is written") {
  fake::forget();
  const auto run = [](std::int64_t queries, std::int64_t keys, std::int32_t length) {
    tensor<float, head<4>, query<>, head_dim<3>> q(queries);
    tensor<float, kv_head<2>, key<>, head_dim<3>> k(keys);
    tensor<float, kv_head<2>, key<>, value_dim<2>> v(keys);
    tensor<float, head<4>, query<>, value_dim<2>> out(queries);
    return kernel<fake::strict>{}.try_call(q, k, v, out, view<const std::int32_t>(&length));
  };
  CHECK(run(3, 5, 5));
  CHECK(run(3, 5, 3)); // row 2 stands at key 4 and sees keys 2 to 4, of which only 2 is left
  CHECK(run(3, 5, 2).code == error_code::empty_row);
  CHECK_THAT(run(3, 5, 2).message(), Contains("batch 0, query 2 may attend to no key"));
  CHECK(run(5, 3, 3).code == error_code::empty_row); // rows 0 and 1 stand before the first key
  CHECK_THAT(run(5, 3, 3).message(), Contains("query 0 may attend to no key"));
  CHECK(run(3, 5, 0).code == error_code::empty_row);
  CHECK(run(3, 0, 0).code == error_code::empty_row);
  CHECK(run(0, 5, 0));
}

TEST_CASE("what generated code reports comes back as a value and as an exception") {
  fake::forget();
  tensor<float, head<4>, query<>, head_dim<3>> q(3);
  tensor<float, kv_head<2>, key<>, head_dim<3>> k(5);
  tensor<float, kv_head<2>, key<>, value_dim<2>> v(5);
  tensor<float, head<4>, query<>, value_dim<2>> out(3);
  tensor<float, head<4>, query<>> lse(3);
  tensor<float, head<4>, query<>, key<>> weights(3, 5);
  fake::fail_with(-8, "constraint violated");
  const status s = kernel<fake::plain>{}.try_call(q, k, v, out, lse, weights);
  CHECK(s.code == error_code::kernel_failed);
  CHECK_THAT(s.message(), Contains("fake::plain") && Contains("code -8: constraint violated"));
  try {
    kernel<fake::plain>{}(q, k, v, out, lse, weights);
    FAIL("no exception");
  } catch (const error &e) {
    CHECK(e.code == error_code::kernel_failed);
    CHECK(std::string(e.what()) == s.message());
  }
  fake::fail_with(halide_error_code_out_of_memory, "malloc failed");
  CHECK(kernel<fake::plain>{}.try_call(q, k, v, out, lse, weights).code == error_code::out_of_memory);
  fake::forget();
  CHECK_NOTHROW(kernel<fake::plain>{}(q, k, v, out, lse, weights));
}

TEST_CASE("a header that is not the library's is refused") {
  fake::forget();
  tensor<float, head<4>, query<>, head_dim<3>> q(3);
  tensor<float, kv_head<2>, key<>, head_dim<3>> k(5);
  tensor<float, kv_head<2>, key<>, value_dim<2>> v(5);
  tensor<float, head<4>, query<>, value_dim<2>> out(3);
  tensor<float, head<4>, query<>> lse(3);
  tensor<float, head<4>, query<>, key<>> weights(3, 5);
  const status s = kernel<fake::stale>{}.try_call(q, k, v, out, lse, weights);
  CHECK(s.code == error_code::stale_header);
  CHECK_THAT(s.message(), Contains("7777777777777777") && Contains("8888888888888888"));
}

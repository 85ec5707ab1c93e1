// What a call's data says about its keys, positions, pages and blocks: wherever it is wrong, the call in C++ and the one in C fail with the
// same sentence, and nothing is written.
#include "fake_library.hpp"
#include "runtime/c_abi.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <climits>
#include <string>

using namespace attune;
using namespace attune::axes;
using Catch::Matchers::Contains;

namespace {

/// A tensor as C passes it, with the same axes. Type codes of DLPack.
attune_dl_tensor in_c(tensor_ref &r) {
  attune_dl_tensor t = {};
  t.data = r.data;
  t.device.device_type = 1;
  t.ndim = r.rank;
  t.dtype.code = r.element == element_type::f32 ? 2 : r.element == element_type::boolean ? 6 : 0;
  t.dtype.bits = static_cast<std::uint8_t>(8 * size_of(r.element));
  t.dtype.lanes = 1;
  t.shape = r.extent;
  t.strides = r.stride;
  return t;
}

/// A call of a spec in the fake library whose tensors a test may spoil; those that it writes hold 5s before it.
template <class Spec> struct data_call {
  const artefact_info &info = artefact<Spec>::info();
  std::vector<tensor_ref> refs; ///< in the order of the signature

  data_call() { fake::forget(); }
  tensor_ref &operator[](const std::string &name) {
    for (int i = 0; i < info.call.tensor_count; ++i)
      if (name == info.call.tensors[i].name) return refs.at(static_cast<std::size_t>(i));
    FAIL("no tensor " + name);
    return refs.at(0);
  }
  status call_in_cpp() { return call(info, refs.data(), static_cast<int>(refs.size()), nullptr, 0, {}); }
  int call_in_c(char *message, std::size_t size) {
    std::vector<attune_dl_tensor> tensors;
    std::vector<attune_named_tensor> named;
    for (tensor_ref &r : refs) tensors.push_back(in_c(r));
    for (std::size_t i = 0; i < refs.size(); ++i) named.push_back({info.call.tensors[i].name, &tensors[i], nullptr});
    return attune_call(info.spec, named.data(), named.size(), nullptr, 0, nullptr, message, size);
  }
  void runs() {
    const status s = call_in_cpp();
    INFO(s.message());
    CHECK(s);
    char message[1000] = "";
    CHECK(call_in_c(message, sizeof message) == 0);
    CHECK_THAT(message, Catch::Matchers::Equals(""));
    CHECK(fake::last().calls == 2);
    fake::forget();
  }
  void fails(error_code code, const std::string &part) {
    const status s = call_in_cpp();
    CHECK(name_of(s.code) == std::string(name_of(code)));
    CHECK_THAT(s.message(), Contains(part) && Contains(info.spec));
    char message[1000] = "";
    CHECK(call_in_c(message, sizeof message) == static_cast<int>(code));
    CHECK(std::string(message) == s.message());
    CHECK(fake::last().calls == 0);
    for (int i = 0; i < info.call.tensor_count; ++i) {
      if (!info.call.tensors[i].written) continue;
      const tensor_ref &r = refs[static_cast<std::size_t>(i)];
      for (std::int64_t e = 0; e < r.extent[0] * r.stride[0]; ++e) REQUIRE(static_cast<const float *>(r.data)[e] == 5);
    }
  }
};

/// 2 batches, 4 queries, 6 keys: documents of 1 and 3 queries, 2 and 4 keys; blocks of 2 by 2.
struct guided_call : data_call<fake::guided> {
  tensor<float, batch<>, head<4>, query<>, head_dim<3>> q{2, 4};
  tensor<float, batch<>, kv_head<2>, key<>, head_dim<3>> k{2, 6};
  tensor<float, batch<>, kv_head<2>, key<>, value_dim<2>> v{2, 6};
  tensor<float, batch<>, head<4>, query<>, value_dim<2>> out{2, 4};
  tensor<std::int32_t, offset<>> query_offsets{3}, key_offsets{3};
  tensor<std::int32_t, batch<>> prefixes{2}, position_offsets{2}, lengths{2};
  tensor<bool, batch<>, query_block<>, key_block<>> blocks{2, 2, 3};
  tensor<float, position<>, rotary_pair<>> cosines{8, 1}, sines{8, 1};

  guided_call() {
    for (float &x : out) x = 5;
    set_offsets({0, 1, 4}, {0, 2, 6});
    prefixes(1) = 6, position_offsets(1) = 2, lengths(0) = lengths(1) = 6;
    refs = {erase(q), erase(k), erase(v), erase(out), erase(query_offsets), erase(key_offsets), erase(prefixes), erase(blocks), erase(position_offsets), with_batch(erase(cosines)),
            with_batch(erase(sines)), erase(lengths)};
  }
  void set_offsets(std::initializer_list<std::int32_t> of_queries, std::initializer_list<std::int32_t> of_keys) {
    std::copy(of_queries.begin(), of_queries.end(), query_offsets.begin());
    std::copy(of_keys.begin(), of_keys.end(), key_offsets.begin());
  }
  /// A table for both batches, with the batch axis that it leaves out.
  static tensor_ref with_batch(tensor_ref r) {
    for (int i = r.rank++; i > 0; --i) r.axes[i] = r.axes[i - 1], r.extent[i] = r.extent[i - 1], r.stride[i] = r.stride[i - 1];
    r.axes[0] = axis_name::batch, r.extent[0] = 2, r.stride[0] = 0;
    return r;
  }
};

/// 2 batches with 2 queries each, on 7 pages of 4 keys; the table has room for 3 pages each.
struct paged_call : data_call<fake::paged> {
  tensor<float, batch<>, head<2>, query<>, head_dim<3>> q{2, 2};
  tensor<std::int8_t, page<>, kv_head<1>, slot<4>, head_dim<3>> keys{7};
  tensor<std::int8_t, page<>, kv_head<1>, slot<4>, value_dim<3>> values{7};
  tensor<float, batch<>, head<2>, query<>, value_dim<3>> out{2, 2};
  tensor<float, batch<>, head<2>, query<>, key<>> weights{2, 2, 12};
  tensor<float, page<>, kv_head<1>, slot<4>> key_scales{7}, value_scales{7};
  tensor<std::int32_t, batch<>, sequence_page<>> table{2, 3};
  tensor<std::int32_t, batch<>> lengths{2};

  paged_call() {
    for (float &x : out) x = 5;
    for (float &x : weights) x = 5;
    lengths(0) = 12, lengths(1) = 5;
    const std::int32_t pages[] = {6, 0, 3, 3, 1, -9}; // batch 1 has two pages, and the third may hold anything
    std::copy(pages, pages + 6, table.begin());
    refs = {erase(q), erase(keys), erase(values), erase(out), erase(weights), erase(key_scales), erase(value_scales), erase(table), erase(lengths)};
  }
};

} // namespace

TEST_CASE_METHOD(guided_call, "data: what is right runs") {
  runs();
  set_offsets({0, 0, 3}, {0, 6, 6}); // a document without queries, one without keys, a query behind the last
  position_offsets(1) = 0;
  runs();
}

TEST_CASE_METHOD(guided_call, "data: positions") {
  SECTION("an offset beyond what positions can be") {
    position_offsets(1) = (1 << 30) + 1;
    fails(error_code::bad_positions, "tensor position_offsets: batch 1 has offset 1073741825, expected -1073741824 to 1073741824");
    position_offsets(1) = INT_MIN;
    fails(error_code::bad_positions, "tensor position_offsets: batch 1 has offset -2147483648, expected");
  }
  SECTION("before the table") {
    position_offsets(0) = -1;
    fails(error_code::bad_positions, "tensor cos_table has 8 positions, but batch 0 stands at positions -1 to 4. Pass tables with more positions, or other position_offsets");
  }
  SECTION("behind the table") {
    position_offsets(1) = 3;
    fails(error_code::bad_positions, "tensor cos_table has 8 positions, but batch 1 stands at positions 3 to 8");
  }
  SECTION("tables of different lengths, or of other pairs") {
    (*this)["sin_table"].extent[1] = 7;
    fails(error_code::wrong_extent, "tensor sin_table: axis position: expected 8 (as in tensor cos_table), got 7");
    (*this)["cos_table"].extent[2] = 2;
    fails(error_code::wrong_extent, "tensor cos_table: axis rotary_pair: expected 1 (fixed by the spec), got 2");
  }
  SECTION("not one for each batch") {
    (*this)["position_offsets"].extent[0] = 1;
    fails(error_code::wrong_extent, "tensor position_offsets: axis batch: expected 2 (as in tensor query), got 1");
  }
}

TEST_CASE_METHOD(guided_call, "data: positions within documents, where queries alone are rotated") {
  artefact_info other = info;
  other.n.rope.keys_rotated = true;
  const auto ends = [&](const std::string &part) {
    const status s = call(other, refs.data(), static_cast<int>(refs.size()), nullptr, 0, {});
    CHECK_THAT(s.message(), part.empty() ? Contains("") : Contains(part));
    CHECK(fake::last().calls == (part.empty() ? 1 : 0));
    fake::forget();
  };
  position_offsets(1) = 0;
  SECTION("from the start of the document's keys") {
    other.n.causal = causal_alignment::top_left;
    set_offsets({0, 1, 4}, {0, 5, 6}); // the second document's queries stand at 5, 6, 7
    ends("");
    position_offsets(0) = 1;
    ends("batch 0 stands at positions 1 to 8");
  }
  SECTION("before the document's keys: causal leaves those queries without keys, but for a prefix") {
    set_offsets({0, 4, 4}, {0, 2, 6}); // queries at -2 to 1
    prefixes(1) = 0;
    ends("");
    prefixes(1) = 1;
    ends("batch 1 stands at positions -2 to 1");
  }
  SECTION("before the document's keys without causal") {
    other.n.causal = causal_alignment::off;
    set_offsets({0, 4, 4}, {0, 2, 6});
    ends("batch 0 stands at positions -2 to 1");
  }
}

TEST_CASE_METHOD(guided_call, "data: offsets of documents") {
  const std::string rule = ": offsets begin with 0, never fall, and end within the ";
  SECTION("that do not begin with 0") {
    set_offsets({1, 2, 4}, {0, 2, 6});
    fails(error_code::bad_lengths, "tensor query_offsets: offset 0 is 1, expected 0 to 0" + rule + "4 queries");
  }
  SECTION("that fall") {
    set_offsets({0, 3, 2}, {0, 2, 6});
    fails(error_code::bad_lengths, "tensor query_offsets: offset 2 is 2, expected 3 to 4" + rule);
    set_offsets({0, 1, 4}, {0, -2, 6});
    fails(error_code::bad_lengths, "tensor key_offsets: offset 1 is -2, expected 0 to 6" + rule + "6 keys");
  }
  SECTION("beyond the tensor") {
    set_offsets({0, 1, 5}, {0, 2, 6});
    fails(error_code::bad_lengths, "tensor query_offsets: offset 2 is 5, expected 1 to 4" + rule);
    set_offsets({0, 1, 4}, {0, 2, INT_MAX});
    fails(error_code::bad_lengths, "tensor key_offsets: offset 2 is 2147483647, expected 2 to 6" + rule);
  }
  SECTION("not as many of keys as of queries") {
    (*this)["key_offsets"].extent[0] = 2;
    fails(error_code::wrong_extent, "tensor key_offsets: axis offset: expected 3 (as in tensor query_offsets), got 2");
  }
  SECTION("none") {
    (*this)["query_offsets"].extent[0] = (*this)["key_offsets"].extent[0] = 0;
    fails(error_code::bad_lengths, "tensor query_offsets is empty, expected one offset for each document and one for the end of the last");
  }
}

TEST_CASE_METHOD(guided_call, "data: lengths of prefixes and keys") {
  SECTION("a negative prefix") {
    prefixes(1) = -1;
    fails(error_code::bad_lengths, "tensor prefix_lengths: batch 1 has prefix length -1, expected 0 to 6 (the key extent)");
  }
  SECTION("a prefix beyond the keys") {
    prefixes(0) = 7;
    fails(error_code::bad_lengths, "tensor prefix_lengths: batch 0 has prefix length 7, expected 0 to 6");
  }
  SECTION("prefixes of other batches") {
    (*this)["prefix_lengths"].extent[0] = 3;
    fails(error_code::wrong_extent, "tensor prefix_lengths: axis batch: expected 2 (as in tensor query), got 3");
  }
  SECTION("keys beyond the tensor, or fewer than none") {
    lengths(1) = 7;
    fails(error_code::bad_lengths, "tensor key_lengths: batch 1 has length 7, expected 0 to 6 (the key extent)");
    lengths(1) = INT_MIN;
    fails(error_code::bad_lengths, "tensor key_lengths: batch 1 has length -2147483648, expected 0 to 6");
  }
}

TEST_CASE_METHOD(guided_call, "data: extents of a table of blocks") {
  SECTION("queries") {
    (*this)["block_table"].extent[1] = 1;
    fails(error_code::wrong_extent, "tensor block_table: axis query_block: expected 2 (4 tokens in blocks of 2), got 1");
  }
  SECTION("keys") {
    (*this)["block_table"].extent[2] = 4;
    fails(error_code::wrong_extent, "tensor block_table: axis key_block: expected 3 (6 tokens in blocks of 2), got 4");
  }
  SECTION("batches") {
    (*this)["block_table"].extent[0] = 1;
    fails(error_code::wrong_extent, "tensor block_table: axis batch: expected 2 (as in tensor query), got 1");
  }
  SECTION("a block of queries that is cut short counts") {
    for (const char *name : {"query", "output"}) (*this)[name].extent[2] = 3;
    query_offsets(2) = 3;
    runs();
  }
}

TEST_CASE_METHOD(paged_call, "data: tables of pages") {
  runs();
  for (float &x : out) x = 5;
  for (float &x : weights) x = 5;
  SECTION("beyond the pages") {
    table(0, 2) = 7;
    fails(error_code::bad_page, "tensor page_table: batch 0, sequence_page 2 holds page 7, expected 0 to 6 (the cache has 7 pages)");
  }
  SECTION("negative") {
    table(1, 1) = INT_MIN;
    fails(error_code::bad_page, "tensor page_table: batch 1, sequence_page 1 holds page -2147483648, expected 0 to 6");
  }
  SECTION("no pages at all") {
    for (const char *name : {"key", "value", "key_scale", "value_scale"}) (*this)[name].extent[0] = 0;
    fails(error_code::bad_page, "tensor page_table: batch 0, sequence_page 0 holds page 6, but the cache has no pages");
  }
  SECTION("a length beyond the table") {
    lengths(1) = 13;
    fails(error_code::bad_lengths, "tensor key_lengths: batch 1 has length 13, expected 0 to 12 (the pages that page_table has room for)");
  }
  SECTION("other batches, other keys") {
    (*this)["page_table"].extent[0] = 1;
    fails(error_code::wrong_extent, "tensor page_table: axis batch: expected 2 (as in tensor query), got 1");
    (*this)["page_table"].extent[0] = 2, (*this)["page_table"].extent[1] = 2;
    fails(error_code::wrong_extent, "tensor attention_weights: axis key: expected 8 (page_table has 2 pages of 4 keys), got 12");
  }
}

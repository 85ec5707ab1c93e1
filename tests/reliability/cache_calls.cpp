// Calls whose keys and values lie in a cache: pages and lengths are checked before anything runs.
#include "HalideRuntime.h"
#include "fake_library.hpp"
#include "runtime/call.hpp"
#include <algorithm>
#include <catch2/catch.hpp>
#include <climits>
#include <string>
#include <vector>

using namespace attune;
using namespace attune::axes;
using Catch::Matchers::Contains;

namespace {

/// Two batches with two queries each, on seven pages of four keys; room for three pages each. No target: a call that passes every check
/// ends with no_usable_target.
struct paged_call {
  const artefact_info info{"fake::paged", "0", fakes::paged_numbers(), signature_of(fakes::paged_numbers(), nullptr, 0), nullptr, 0};
  tensor<float, batch<>, head<>, query<>, head_dim<>> q{2, 2, 2, 3};
  tensor<std::int8_t, page<>, kv_head<>, slot<>, head_dim<>> keys{7, 1, 4, 3};
  tensor<std::int8_t, page<>, kv_head<>, slot<>, value_dim<>> values{7, 1, 4, 3};
  tensor<float, batch<>, head<>, query<>, value_dim<>> out{2, 2, 2, 3};
  tensor<float, batch<>, head<>, query<>, key<>> weights{2, 2, 2, 12};
  tensor<float, page<>, kv_head<>, slot<>> key_scales{7, 1, 4}, value_scales{7, 1, 4};
  tensor<std::int32_t, batch<>, sequence_page<>> table{2, 3};
  tensor<std::int32_t, batch<>> lengths{2};
  tensor_ref refs[9] = {erase(q), erase(keys), erase(values), erase(out), erase(weights), erase(key_scales), erase(value_scales), erase(table), erase(lengths)};

  paged_call() {
    lengths(0) = 12, lengths(1) = 5;
    const std::int32_t pages[] = {6, 0, 3, 3, 1, -9}; // two sequences may share a page that is only read
    std::copy(pages, pages + 6, table.begin());
  }
  void ends(error_code code, const std::string &part) {
    const status s = call(info, refs, 9, nullptr, 0, {});
    CHECK(std::string(name_of(s.code)) == name_of(code));
    CHECK_THAT(s.message(), Contains(part));
  }
};

/// A kernel that notes the extents of its second tensor, key, and of the eighth, the page table or the lengths.
std::vector<int> seen_key, seen_table;
int note_extents(void **argv) {
  const auto extents = [](void *p) {
    const halide_buffer_t &b = *static_cast<halide_buffer_t *>(p);
    std::vector<int> all;
    for (int i = 0; i < b.dimensions; ++i) all.push_back(b.dim[i].extent);
    return all;
  };
  seen_key = extents(argv[2]), seen_table = extents(argv[6]);
  return 0;
}
int never(void **) { return -1; }

/// Kernels for at most 8 keys, and for more, which no call here may take.
struct noted_call : paged_call {
  const artefact_kernel kernels[2] = {{INT_MAX, 8, note_extents, "noted"}, {INT_MAX, INT_MAX, never, "never"}};
  const artefact_variant variant{fake::least_target(), kernels, 2, nullptr, 0};
  const artefact_info with_kernels{"fake::paged", "0", fakes::paged_numbers(), signature_of(fakes::paged_numbers(), nullptr, 0), &variant, 1};
};

} // namespace

TEST_CASE_METHOD(noted_call, "pages: a kernel sees as much of the table as the longest batch needs, and is chosen by that") {
  lengths(0) = 3;
  const status s = call(with_kernels, refs, 9, nullptr, 0, {});
  INFO(s.message());
  REQUIRE(s);
  CHECK(seen_key == std::vector<int>{3, 4, 1, 7});
  CHECK(seen_table == std::vector<int>{2, 2});
  lengths(0) = lengths(1) = 0; // no kernel is needed
  std::fill(out.begin(), out.end(), 5.0f);
  std::fill(weights.begin(), weights.end(), 5.0f);
  artefact_info zero_rows = with_kernels;
  zero_rows.n.empty_rows = empty_row_policy::zero;
  REQUIRE(call(zero_rows, refs, 9, nullptr, 0, {}));
  CHECK(std::count(out.begin(), out.end(), 0.0f) == out.size());
  CHECK(std::count(weights.begin(), weights.end(), 0.0f) == weights.size());
}

TEST_CASE_METHOD(paged_call, "pages: what is right passes; the table past a batch's length may hold anything") { ends(error_code::no_usable_target, "fake::paged"); }

TEST_CASE_METHOD(paged_call, "pages: what is wrong is refused") {
  SECTION("a page behind the last") {
    table(0, 2) = 7;
    ends(error_code::bad_page, "tensor page_table: batch 0, sequence_page 2 holds page 7, expected 0 to 6 (the cache has 7 pages)");
  }
  SECTION("a page within the length that was never filled") {
    lengths(1) = 9;
    ends(error_code::bad_page, "batch 1, sequence_page 2 holds page -9");
  }
  SECTION("a length beyond the table") {
    lengths(1) = 13;
    ends(error_code::bad_lengths, "batch 1 has length 13, expected 0 to 12 (the pages that page_table has room for)");
  }
  SECTION("a negative length") {
    lengths(0) = -1;
    ends(error_code::bad_lengths, "batch 0 has length -1");
  }
  SECTION("rows are empty where a batch has fewer keys than queries") {
    lengths(1) = 1;
    ends(error_code::empty_row, "batch 1, query 0 may attend to no key");
  }
  SECTION("slots") {
    refs[2].extent[2] = 8;
    ends(error_code::wrong_extent, "tensor value: axis slot: expected 4 (fixed by the spec), got 8");
  }
  SECTION("pages of one tensor") {
    refs[5].extent[0] = 6;
    ends(error_code::wrong_extent, "tensor key_scale: axis page: expected 7 (as in tensor key), got 6");
  }
  SECTION("a tensor with a key axis") {
    refs[4].extent[3] = 11;
    ends(error_code::wrong_extent, "tensor attention_weights: axis key: expected 12 (page_table has 3 pages of 4 keys), got 11");
  }
  SECTION("element") {
    refs[1].element = element_type::e4m3;
    ends(error_code::wrong_element, "tensor key: expected int8 elements, got e4m3");
  }
}

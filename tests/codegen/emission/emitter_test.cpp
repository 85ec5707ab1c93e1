// What the emitter leaves in a folder: all of an emission or nothing, and nothing new where nothing changed.
#include "dsl/pipeline/describe.hpp"
#include "generated/emitter.hpp"
#include "schedules/build.hpp"
#include "schedules/family.hpp"
#include "tests/codegen/emission/folder.hpp"
#include "tests/codegen/emission/specs.hpp"
#include <catch2/catch.hpp>

using namespace attune;
using Catch::Matchers::Contains;

namespace {
const target_info &avx2 = info_of(target_id::avx2);
const operator_description both = describe<sample::both>();

/// The same spec with one more head, as if someone had edited it.
operator_description edited() {
  operator_description d = both;
  d.n.heads = d.n.kv_heads = 3;
  return d;
}

schedule_point with_key_chunk_doubled() {
  schedule_point point = find_family("chunk").default_point(both, avx2);
  for (auto &[name, value] : point.parameters)
    if (name == "key_chunk") value *= 2;
  return point;
}
} // namespace

TEST_CASE("an emission leaves an object and a manifest") {
  const own_folder folder;
  const emission done = emit({both, avx2, "test", folder.path, {}});
  CHECK(done.outcome == emission::emitted);
  CHECK(folder.times().size() == 2);
  CHECK(std::filesystem::exists(folder.path / "both.avx2.o"));
  CHECK(std::filesystem::exists(folder.path / "both.avx2.json"));
}

TEST_CASE("a second emission touches nothing") {
  const own_folder folder;
  emit({both, avx2, "test", folder.path, {}});
  const auto before = folder.times();
  CHECK(emit({both, avx2, "test", folder.path, {}}).outcome == emission::unchanged);
  CHECK(folder.times() == before);
}

TEST_CASE("a changed spec, schedule or library, or a missing object, is emitted again; another spec is not") {
  const own_folder folder;
  const operator_description other = describe<sample::only_second>();
  emit({both, avx2, "test", folder.path, {}});
  emit({other, avx2, "test", folder.path, {}});
  const auto before = folder.times();

  SECTION("another text") { CHECK(emit({edited(), avx2, "test", folder.path, {}}).outcome == emission::emitted); }
  SECTION("another schedule") {
    CHECK(emit({both, avx2, "test", folder.path, pinned_everywhere(both.n, with_key_chunk_doubled())}).outcome == emission::emitted);
  }
  SECTION("the same schedules from elsewhere, as the manifest then says") {
    emission_order order{both, avx2, "test", folder.path, {}};
    for (const length_bucket b : buckets_of(both.n)) {
      order.pinned[b] = choose_schedule(both, avx2, b);
      order.pinned[b].origin = "table avx2/elsewhere";
    }
    const emission again = emit(order);
    CHECK(again.outcome == emission::emitted);
    CHECK(read_manifest(folder.path / "both.avx2.json")->kernels.front().schedule.origin == "table avx2/elsewhere");
    CHECK(emit(order).outcome == emission::unchanged);
  }
  SECTION("another library") { CHECK(emit({both, avx2, "elsewhere", folder.path, {}}).outcome == emission::emitted); }
  SECTION("the object is gone") {
    std::filesystem::remove(folder.path / "both.avx2.o");
    CHECK(emit({both, avx2, "test", folder.path, {}}).outcome == emission::emitted);
  }
  SECTION("the object was cut short") {
    std::filesystem::resize_file(folder.path / "both.avx2.o", 100);
    CHECK(emit({both, avx2, "test", folder.path, {}}).outcome == emission::emitted);
  }
  CHECK(emit({other, avx2, "test", folder.path, {}}).outcome == emission::unchanged);
  const auto after = folder.times();
  CHECK(after.at("only_second.avx2.o") == before.at("only_second.avx2.o"));
  CHECK(after.at("only_second.avx2.json") == before.at("only_second.avx2.json"));
  CHECK(after.at("both.avx2.o") != before.at("both.avx2.o"));
}

TEST_CASE("assembly and loop nest come when they are asked for") {
  const own_folder folder;
  emit({both, avx2, "test", folder.path, {}});
  CHECK(emit({both, avx2, "test", folder.path, {}, true, true}).outcome == emission::emitted);
  CHECK(std::filesystem::file_size(folder.path / "both.avx2.s") > 1000);
  CHECK(std::filesystem::file_size(folder.path / "both.avx2.stmt") > 1000);
  CHECK(emit({both, avx2, "test", folder.path, {}, true, true}).outcome == emission::unchanged);
}

TEST_CASE("a warning of Halide fails the emission and leaves nothing behind") {
  const own_folder folder;
  operator_description d = both;
  d.score_functions.push_back([](Halide::Expr score, const position_expr &, const input_reader &) {
    return Halide::cast<float>(Halide::cast<Halide::bfloat16_t>(score)); // emulated on AVX2, of which Halide warns
  });
  CHECK_THROWS_WITH(emit({d, avx2, "test", folder.path, {}}), Contains("both for avx2") && Contains("Halide warned"));
  CHECK(folder.times().empty());
}

TEST_CASE("an error of Halide fails the emission and leaves nothing behind") {
  const own_folder folder;
  operator_description d = both;
  d.score_functions.push_back([](Halide::Expr score, const position_expr &, const input_reader &) {
    return score + Halide::Var("nowhere");
  });
  CHECK_THROWS_AS(emit({d, avx2, "test", folder.path, {}}), emission_error);
  CHECK(folder.times().empty());
}

TEST_CASE("a pinned schedule that breaks a rule is refused with the rule's words") {
  const own_folder folder;
  schedule_point point = choose_schedule(both, avx2, length_bucket::prefill_long);
  for (auto &[name, value] : point.parameters)
    if (name == "query_tile") value = 7;
  CHECK_THROWS_WITH(emit({both, avx2, "test", folder.path, {{length_bucket::prefill_short, point}}}),
                    Contains("query_tile") && Contains("schedule") && Contains("(prefill_short)"));
  CHECK(folder.times().empty());
}

TEST_CASE("one Halide runtime serves targets of one machine") {
  const own_folder folder;
  emit_runtime({&avx2, &info_of(target_id::avx512)}, folder.path / "runtime.o");
  const auto before = folder.times();
  emit_runtime({&avx2, &info_of(target_id::avx512)}, folder.path / "runtime.o");
  CHECK(folder.times() == before);
  CHECK_THROWS_WITH(emit_runtime({&avx2, &info_of(target_id::neon)}, folder.path / "mixed.o"), Contains("avx2") && Contains("neon"));
}

// Every field of a manifest, as other programs read it.
#include "dsl/pipeline/describe.hpp"
#include "generated/emitter.hpp"
#include "generated/files.hpp"
#include "schedules/build.hpp"
#include "tests/codegen/emission/folder.hpp"
#include "tests/codegen/emission/specs.hpp"
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace attune;

namespace {
nlohmann::json manifest_of(const own_folder &folder, const std::string &name) { return nlohmann::json::parse(text_of(folder.path / name)); }
} // namespace

TEST_CASE("the manifest of an emitted object") {
  const own_folder folder;
  const operator_description spec = describe<sample::nested::only_first>();
  const target_info &target = info_of(target_id::avx2);
  emit({spec, target, "test", folder.path, {}});
  const auto m = manifest_of(folder, "only_first.avx2.json");
  const schedule_point point = choose_schedule(spec, target, length_bucket::prefill_long);

  CHECK(m.at("schema") == 2);
  CHECK(m.at("status") == "emitted");
  CHECK(m.at("spec") == "sample::nested::only_first");
  CHECK(m.at("canonical_text") == canonical_text(spec));
  CHECK(m.at("hash") == spec_hash(spec));
  CHECK(m.at("target") == "avx2");
  CHECK(Halide::Target(m.at("halide_target").get<std::string>()) == halide_target(target));
  const auto &kernel = m.at("kernels").back();
  CHECK(kernel.at("buckets").back() == "prefill_long");
  CHECK(kernel.at("run") == "attune_test_sample_nested_only_first_avx2_argv");
  CHECK(kernel.at("schedule").at("family") == point.family);
  CHECK(kernel.at("schedule").at("text") == point.text());
  CHECK(kernel.at("schedule").at("origin") == point.origin);
  CHECK(kernel.at("schedule").at("why") == point.why);
  CHECK(kernel.at("schedule").at("parameters").size() == point.parameters.size());
  for (const auto &[name, value] : point.parameters) CHECK(kernel.at("schedule").at("parameters").at(name) == value);
  CHECK(m.at("panel_lanes") == 0);
  CHECK(m.at("pack") == "");
  CHECK(m.at("object") == "only_first.avx2.o");
  CHECK(m.at("bytes") == std::filesystem::file_size(folder.path / "only_first.avx2.o"));
  CHECK(m.at("compile_seconds") > 0);
  CHECK(m.at("fingerprint").get<std::string>().size() == 16);
  CHECK(m.at("versions").at("attune") == "0.1.0");
  CHECK(m.at("versions").at("halide") == "21.0.0");
  CHECK(m.at("versions").at("llvm") == "21.1");
  CHECK(m.at("versions").at("generator").get<std::string>().size() == 16);
}

TEST_CASE("what cannot be written is named, with what to do") {
  const own_folder folder;
  CHECK_THROWS_WITH(write_if_different(folder.path, "text"), Catch::Contains("cannot write " + folder.path.string() + ": ") && Catch::Contains("name another place"));
  CHECK_THROWS_WITH(unfinished_file("/proc/file"), "cannot write /proc/file: no file can be made in its folder (No such file or directory). Name another place.");
  CHECK_THROWS_WITH(write_if_different("/proc/attune/file", "text"), "the folder /proc/attune cannot be made: No such file or directory. Name one that can be written.");
}

TEST_CASE("a manifest reads back as it was written") {
  const own_folder folder;
  manifest m;
  m.spec = "app::gpt2", m.canonical_text = "two\nlines", m.hash = "00ff", m.target = "neon", m.halide_target = "arm-64-linux";
  m.kernels = {{{length_bucket::decode_short, length_bucket::prefill_short}, "first", {"row_tile", {{"query_tile", 8}}, "table neon/some_core", "of another"}},
               {{length_bucket::decode_long, length_bucket::prefill_long}, "second", {"chunk", {{"query_tile", 16}, {"key_chunk", 512}}, "pinned"}}};
  m.panel_lanes = 16, m.pack = "p", m.object = "o", m.bytes = 7, m.compile_seconds = 0.25, m.fingerprint = "12";
  m.attune_version = "a", m.halide_version = "h", m.llvm_version = "l", m.generator = "g";
  write(m, folder.path / "m.json");
  const auto back = read_manifest(folder.path / "m.json");
  REQUIRE(back);
  write(*back, folder.path / "again.json");
  CHECK(text_of(folder.path / "m.json") == text_of(folder.path / "again.json"));
  REQUIRE(back->kernels.size() == 2);
  CHECK(back->kernels[0].buckets == m.kernels[0].buckets);
  CHECK(back->kernels[0].run == "first");
  CHECK(back->kernels[0].schedule.origin == "table neon/some_core");
  CHECK(back->kernels[0].schedule.why == "of another");
  CHECK(back->kernels[1].schedule.text() == "chunk query_tile=16 key_chunk=512");

  m.refused = "too wide";
  write(m, folder.path / "refused.json");
  CHECK(read_manifest(folder.path / "refused.json")->refused == "too wide");
  CHECK(manifest_of(folder, "refused.json").at("status") == "refused");
}

TEST_CASE("what is no manifest of this version is no manifest") {
  const own_folder folder;
  CHECK_FALSE(read_manifest(folder.path / "none.json"));
  write_if_different(folder.path / "broken.json", "{\"schema\": 2, ");
  CHECK_FALSE(read_manifest(folder.path / "broken.json"));
  for (const char *schema : {"1", "3"}) {
    write_if_different(folder.path / "other.json", std::string("{\"schema\": ") + schema + "}");
    CHECK_FALSE(read_manifest(folder.path / "other.json"));
  }
}

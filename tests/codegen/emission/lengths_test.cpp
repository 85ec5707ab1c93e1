// A library whose length buckets have different schedules: what is emitted, what is registered, and that every kernel of it
// computes what the spec says.
#include "dsl/pipeline/describe.hpp"
#include "dsl/reference/refer.hpp"
#include "generated/check.hpp"
#include "generated/emitter.hpp"
#include "generated/files.hpp"
#include "generated/header_writer.hpp"
#include "generated/names.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/machine.hpp"
#include "schedules/build.hpp"
#include "schedules/family.hpp"
#include "tests/codegen/emission/folder.hpp"
#include "tests/codegen/emission/specs.hpp"
#include <catch2/catch.hpp>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <limits>
#include <set>

using namespace attune;
using pins = std::map<length_bucket, schedule_point>;

namespace {
/// A legal point of the family that differs from its default in one parameter.
schedule_point neighbour(const std::string &family, const operator_description &op, const target_info &target) {
  const schedule_family &f = find_family(family);
  const schedule_point point = f.default_point(op, target);
  for (const schedule_parameter &parameter : f.parameters(op, target))
    for (const int value : parameter.values) {
      schedule_point other = point;
      for (auto &[name, old] : other.parameters)
        if (name == parameter.name) old = value;
      if (other.text() != point.text() && f.broken_rule(op, target, other).empty()) return other;
    }
  throw std::logic_error(family + " has one legal point only");
}

/// Three schedules for four buckets on a CPU, two on a device: the short ones share one.
pins schedules_for(const operator_description &op, const target_info &target) {
  const bool on_cpu = target.device == device_kind::cpu;
  const std::string family = on_cpu ? "chunk" : "gpu_running";
  const schedule_point long_point = find_family(family).default_point(op, target), other = neighbour(family, op, target);
  const schedule_point short_point = on_cpu ? find_family("row_tile").default_point(op, target) : other;
  pins all{{length_bucket::prefill_short, short_point}, {length_bucket::prefill_long, long_point}};
  if (has_decode(op.n)) all[length_bucket::decode_short] = short_point, all[length_bucket::decode_long] = on_cpu ? other : long_point;
  return all;
}

struct sample_spec {
  operator_description description;
  reference_operator reference;
};
const std::vector<sample_spec> &samples() {
  static const std::vector<sample_spec> all{{describe<sample::both>(), refer<sample::both>()}, {describe<sample::layered>(), refer<sample::layered>()}};
  return all;
}
const std::vector<const target_info *> &sample_targets() {
  static const std::vector<const target_info *> all{&info_of(target_id::avx2), &info_of(target_id::opencl)};
  return all;
}

/// The samples as a library, in a folder of its own, as the build makes one; loaded, it tells its artefacts.
class library_by_length {
public:
  library_by_length() {
    for (const sample_spec &s : samples()) {
      registered_spec r{s.description, {}};
      for (const target_info *t : sample_targets()) {
        const bool carried = why_not(s.description, *t).empty();
        r.manifests.push_back(emit({s.description, *t, name, folder_.path, carried ? schedules_for(s.description, *t) : pins{}}).record);
      }
      write_if_different(folder_.path / name / (stem_of(s.description.name) + ".hpp"), typed_header(s.description, name));
      specs.push_back(std::move(r));
    }
  }

  std::string registration_text() const { return registration(specs, name); }

  const artefact_info &load(const std::string &spec) {
    if (!loaded_) loaded_ = link();
    const auto info = reinterpret_cast<const void *(*)()>(dlsym(loaded_, stem_of(spec).c_str()));
    REQUIRE(info);
    return *static_cast<const artefact_info *>(info());
  }

  std::vector<registered_spec> specs;

private:
  static constexpr const char *name = "by_length";

  void *link() {
    std::string accessors;
    for (const registered_spec &r : specs)
      accessors += fmt::format("extern \"C\" [[gnu::visibility(\"default\")]] const void *{}() {{ return &attune::artefact<::{}>::info(); }}\n", stem_of(r.spec.name), r.spec.name);
    write_if_different(folder_.path / "registration.cpp", registration_text() + accessors);
    emit_runtime(sample_targets(), folder_.path / "runtime.o");
    const std::string here = folder_.path.string(), file = here + "/library.so", includes = fmt::format("'-I{}' '-I{}' -isystem {}", here, SOURCES, HALIDE_INCLUDES);
    const std::string sources = fmt::format("'{}'/registration.cpp '{}'/runtime/halide_hooks.cpp '{}'/*.o '{}'", here, SOURCES, here, RUNTIME);
    const std::string command = fmt::format("'{}' -std=c++17 -O1 -shared -fPIC -fvisibility=hidden -Wl,-Bsymbolic -Wl,-z,defs -DATTUNE_LIBRARY={} {} -o '{}' {} -ldl -pthread",
                                            CXX, name, includes, file, sources);
    INFO(command);
    REQUIRE(std::system(command.c_str()) == 0);
    void *const loaded = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); // never closed: its runtime may have threads
    INFO((loaded ? "" : dlerror()));
    REQUIRE(loaded);
    return loaded;
  }

  own_folder folder_;
  void *loaded_ = nullptr;
};

/// Made once: an emission takes seconds.
library_by_length &the_library() {
  static library_by_length l;
  return l;
}

void check_every_kernel(const sample_spec &s, target_id target) {
  const artefact_info &info = the_library().load(s.description.name);
  const chosen_variant chosen = choose_variant(info, target);
  INFO(chosen.why.message());
  REQUIRE(chosen.variant);
  const auto weights = std::make_shared<check_weights>(s.reference.n, 1);
  const std::vector<check_case> cases = standard_cases(s.reference.n, *chosen.variant, 2e9);
  for (const check_case &how : cases) {
    const check_result result = check_kernel(info, s.reference, target, how, weights);
    INFO(result.text);
    CHECK(result.passed);
  }
  for (const int count : cases_by_kernel(*chosen.variant, cases)) CHECK(count > 5);
}

std::string row(const char *queries, const char *keys, const std::string &run, const schedule_point &point) {
  return fmt::format("    {{{}, {}, {}, \"{}\"}},\n", queries, keys, run, point.text());
}
} // namespace

TEST_CASE("buckets with equal schedules share one function, and one object holds them all") {
  const sample_spec &both = samples()[0], &layer = samples()[1];
  const manifest &m = the_library().specs[0].manifests[0];
  using b = length_bucket;
  pins expected = schedules_for(both.description, *find_target("avx2"));
  REQUIRE(m.kernels.size() == 3);
  CHECK(m.kernels[0].buckets == std::vector{b::decode_short, b::prefill_short});
  CHECK(m.kernels[1].buckets == std::vector{b::decode_long});
  CHECK(m.kernels[2].buckets == std::vector{b::prefill_long});
  const std::string function = "attune_by_length_sample_both_avx2";
  CHECK(m.kernels[0].run == function + "_decode_short_argv");
  CHECK(m.kernels[1].run == function + "_decode_long_argv");
  CHECK(m.kernels[2].run == function + "_argv");
  for (const emitted_kernel &k : m.kernels) CHECK(k.schedule.text() == expected[k.buckets.front()].text());

  const manifest &l = the_library().specs[1].manifests[0];
  expected = schedules_for(layer.description, *find_target("avx2"));
  REQUIRE(l.kernels.size() == 2);
  CHECK(l.kernels[0].buckets == std::vector{b::prefill_short});
  CHECK(l.kernels[1].buckets == std::vector{b::prefill_long});
  CHECK(l.panel_lanes > 0);
}

TEST_CASE("the registration has a row for each bucket but those whose calls fall to the same function in a later row") {
  const std::string text = the_library().registration_text();
  const pins both = schedules_for(samples()[0].description, *find_target("avx2")), device = schedules_for(samples()[0].description, *find_target("opencl")),
             layer = schedules_for(samples()[1].description, *find_target("avx2"));
  const std::string function = "attune_by_length_sample_both_avx2", on_device = "attune_by_length_sample_both_opencl", layered = "attune_by_length_sample_layered_avx2";
  const std::string head = "_kernels[] = { // max_queries, max_keys, run, schedule\n";
  using Catch::Matchers::Contains;
  CHECK_THAT(text, Contains("sample_both_avx2" + head + row("8", "512", function + "_decode_short_argv", both.at(length_bucket::decode_short)) +
                            row("8", "INT_MAX", function + "_decode_long_argv", both.at(length_bucket::decode_long)) +
                            row("INT_MAX", "512", function + "_decode_short_argv", both.at(length_bucket::decode_short)) +
                            row("INT_MAX", "INT_MAX", function + "_argv", both.at(length_bucket::prefill_long)) + "};\n"));
  CHECK_THAT(text, Contains("sample_both_opencl" + head + row("INT_MAX", "512", on_device + "_decode_short_argv", device.at(length_bucket::decode_short)) +
                            row("INT_MAX", "INT_MAX", on_device + "_argv", device.at(length_bucket::prefill_long)) + "};\n"));
  CHECK_THAT(text, Contains("sample_layered_avx2" + head + row("INT_MAX", "512", layered + "_prefill_short_argv", layer.at(length_bucket::prefill_short)) +
                            row("INT_MAX", "INT_MAX", layered + "_argv", layer.at(length_bucket::prefill_long)) + "};\n"));
}

TEST_CASE("every kernel computes what the spec says, on both sides of each limit") {
  for (const sample_spec &s : samples()) check_every_kernel(s, target_id::avx2);
}

TEST_CASE("every kernel of a device computes what the spec says, with device code of its own", "[.opencl]") {
  if (const std::string &missing = missing_for(target_id::opencl); !missing.empty()) {
    std::printf("not run: this machine lacks %s\n", missing.c_str());
    std::exit(77); // as ctest knows it
  }
  check_every_kernel(samples()[0], target_id::opencl);
}

TEST_CASE("standard cases lie around the tiles of every kernel, and on both sides of each limit between two") {
  const artefact_kernel kernels[] = {{8, 300, nullptr, "first key_chunk=48"}, {INT_MAX, INT_MAX, nullptr, "second key_chunk=1500"}};
  const auto lengths_of = [](const artefact_variant &variant) {
    std::set<std::pair<int, int>> lengths;
    for (const check_case &c : standard_cases(samples()[0].reference.n, variant, std::numeric_limits<double>::infinity())) lengths.insert({c.queries, c.keys});
    return lengths;
  };
  const auto two = lengths_of({target_id::avx2, kernels, 2, nullptr, 0}), one = lengths_of({target_id::avx2, kernels + 1, 1, nullptr, 0});
  const auto tried = [](const auto &lengths, int queries, int keys) { return lengths.count({queries, keys}) == 1; };
  for (const int more : {-1, 0, 1}) {
    INFO(more);
    CHECK(tried(two, 5, 48 + more));     // a tile of the first kernel
    CHECK(tried(two, 9, 1500 + more));   // of the second, by few queries that fall to it
    CHECK(tried(one, 5, 1500 + more));   // the same where it is the only one
    for (const int queries : {8, 9}) {
      CHECK(tried(two, queries, 300 + more));
      CHECK_FALSE(tried(one, queries, 300 + more));
    }
  }
  CHECK(tried(two, 1500, 337)); // a multiple of the tile in queries, with keys past the limit
}

TEST_CASE("a schedule is pinned for a length that no call has") {
  const operator_description &layer = samples()[1].description;
  const target_info &avx2 = *find_target("avx2");
  const own_folder folder;
  const schedule_point point = find_family("chunk").default_point(layer, avx2);
  CHECK_THROWS_WITH(emit({layer, avx2, "test", folder.path, {{length_bucket::decode_long, point}}}), Catch::Contains("is pinned for decode_long, but no call of this spec decodes"));
  CHECK(folder.times().empty());
}

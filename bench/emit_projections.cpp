// Emits what the gemm works call: projections of 768 to 768 features alone, as objects, with the lists that packaging reads
// (cmake/AttuneAddLibrary.cmake). Every other step, as the runtime's object, is the emitter's own.
#include "generated/emitter_command.hpp"
#include "generated/files.hpp"
#include "generated/names.hpp"
#include "schedules/build.hpp"
#include <fmt/format.h>
#include <string_view>

namespace {
namespace fs = std::filesystem;
using namespace attune;

constexpr const char *library = "attune_bench_projections";
constexpr int features = 768;

void emit_projections(const fs::path &folder) {
  fs::create_directories(folder);
  std::string objects, visible = install_hooks_name(library) + "\n";
  for (const auto &[name_of_work, element, target] : {std::tuple{"f32", element_type::f32, target_id::avx512}, {"bf16", element_type::bf16, target_id::avx512_bf16},
                                                      {"bf16_amx", element_type::bf16, target_id::avx512_amx}}) {
    const std::string name = fmt::format("{}_{}", library, name_of_work);
    unfinished_file object(folder / (name + ".o"));
    build_projection_module(element, features, features, info_of(target), name).compile({{Halide::OutputFileType::object, object.path().string()}});
    object.keep();
    objects += (folder / (name + ".o")).string() + "\n";
    visible += name + "_argv\n";
  }
  write_if_different(folder / "x86_64.visible", visible);
  write_if_different(folder / "x86_64.objects", objects);
}
} // namespace

int main(int argc, char **argv) {
  if (argc != 3 || std::string_view(argv[1]) != "projections") return emitter_command({}, argc, argv);
  try {
    emit_projections(argv[2]);
    return 0;
  } catch (const std::exception &e) {
    fmt::print(stderr, "attune: {}\n", e.what());
    return 1;
  }
}

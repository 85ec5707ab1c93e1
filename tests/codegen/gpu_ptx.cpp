// CUDA kernels of the stock specs, and of some shapes beside them, through ptxas: no spills, bounded registers and shared memory.
// Exit status 77 where there is no ptxas: not run.
#define CATCH_CONFIG_RUNNER
#include "dsl/pipeline/describe.hpp"
#include "generated/stock/catalogue.hpp"
#include "schedules/build.hpp"
#include "schedules/gpu_running.hpp"
#include "tests/codegen/gpu_trial.hpp"
#include <catch2/catch.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <unistd.h>

using namespace attune;

namespace specs {
struct window_with_sinks {
  static constexpr auto spec = attention(heads<32>, kv_heads<8>, head_dim<128>, element<bf16>, causal<align::at_length>, sliding_window<127>, sinks, returns<lse>);
};
struct paged_int8 {
  static constexpr auto spec = attention(heads<32>, kv_heads<8>, head_dim<128>, element<bf16>, paged<16>, kv_element<int8>, kv_scale<per_token>, keys_rotated, causal<align::at_length>);
};
struct rotary { static constexpr auto spec = attention(heads<32>, kv_heads<8>, head_dim<128>, element<bf16>, theta<500000>, causal<align::bottom_right>); };
struct sigmoid_with_prefix {
  static constexpr auto spec = operands(heads<12>, head_dim<64>, element<f32>) | mask(causal<align::bottom_right>, prefix_lengths) | sigmoid(sigmoid_bias<runtime>) | weighted_sum();
};
struct packed_documents { static constexpr auto spec = attention(heads<12>, head_dim<64>, element<f16>, theta<10000>, causal<align::bottom_right>, documents<offsets>); };
} // namespace specs

namespace {

/// The text of the kernels and the launch of the last one, as they stand in the host function.
struct gpu_kernel : Halide::Internal::IRVisitor {
  std::string ptx;
  int threads[3] = {}, shared_bytes = -1, kernels = 0;

  explicit gpu_kernel(const Halide::Module &module) {
    for (const auto &f : module.functions()) f.body.accept(this);
    while (!ptx.empty() && ptx.back() == 0) ptx.pop_back();
  }
  using IRVisitor::visit;
  void visit(const Halide::Internal::Variable *v) override {
    if (!v->image.defined() || v->name.find("gpu_source_kernels") == std::string::npos) return;
    const Halide::Buffer<std::uint8_t> text(v->image);
    ptx.assign(reinterpret_cast<const char *>(text.data()), text.size_in_bytes());
  }
  void visit(const Halide::Internal::Call *call) override {
    IRVisitor::visit(call);
    if (call->name != "halide_cuda_run") return;
    ++kernels;
    std::size_t name = 0; // its arguments: …, kernel name, three blocks, three threads, shared bytes, …
    while (!call->args[name].as<Halide::Internal::StringImm>()) ++name;
    for (int i = 0; i < 3; ++i) threads[i] = constant(call->args[name + 4 + i]);
    shared_bytes = constant(call->args[name + 7]);
  }
  static int constant(const Halide::Expr &e) {
    const auto value = Halide::Internal::as_const_int(Halide::Internal::simplify(e));
    return value ? static_cast<int>(*value) : -1;
  }
};

struct assembly {
  std::string log;
  bool ended_well = false;
  /// The largest that ptxas names for a kernel of the module; -1 if it names none.
  int largest(const std::string &pattern) const {
    const std::regex number(pattern);
    int most = -1;
    for (std::sregex_iterator found(log.begin(), log.end(), number), end; found != end; ++found) most = std::max(most, std::stoi((*found)[1]));
    return most;
  }
};

assembly assemble(const std::string &ptx, const std::string &architecture) {
  char file[] = "/tmp/attune_ptx_XXXXXX";
  close(mkstemp(file));
  std::ofstream(file) << ptx;
  std::FILE *pipe = popen(("ptxas -v -arch=" + architecture + " -o /dev/null " + file + " 2>&1").c_str(), "r");
  assembly result;
  char line[512];
  while (std::fgets(line, sizeof line, pipe)) result.log += line;
  result.ended_well = pclose(pipe) == 0;
  unlink(file);
  return result;
}

struct shape {
  std::string name;
  operator_description op;
  int registers; ///< at most: 65,536 registers hold this many thread blocks of the default schedule
};

operator_description with(operator_description op, causal_alignment causal, int window = 0) {
  op.n.causal = causal;
  if (window > 0) op.n.window = {setting::fixed, static_cast<double>(window)};
  return op;
}

std::vector<shape> shapes() {
  std::vector<shape> all;
  constexpr int four_blocks = 128, three_blocks = 168, two_blocks = 255; // registers per thread, at 128 threads
  for (const element_type e : {element_type::f32, element_type::f16, element_type::bf16}) {
    all.push_back({"12 x 32", gpu_trial::attention(12, 12, 32, 32, e), four_blocks});
    all.push_back({"12 x 64", gpu_trial::attention(12, 12, 64, 64, e), four_blocks});
    all.push_back({"12 x 64 causal", with(gpu_trial::attention(12, 12, 64, 64, e), causal_alignment::bottom_right), three_blocks});
    all.push_back({"32/8 x 128 causal", with(gpu_trial::attention(32, 8, 128, 128, e), causal_alignment::bottom_right), three_blocks});
    all.push_back({"32/8 x 128 causal, window", with(gpu_trial::attention(32, 8, 128, 128, e), causal_alignment::bottom_right, 4095), three_blocks});
    all.push_back({"8/4 x 256 causal, window, softcap", with(gpu_trial::attention(8, 4, 256, 256, e), causal_alignment::bottom_right, 4095), three_blocks});
    all.back().op.n.softcap = {setting::fixed, 50};
  }
  for (operator_description &op : describe_all(stock::catalogue{}))
    if (gpu_why_not(op, info_of(target_id::cuda_sm80)).empty()) all.push_back({op.name, op, three_blocks});
  using of_the_language = spec_list<specs::window_with_sinks, specs::sigmoid_with_prefix, specs::packed_documents, specs::paged_int8, specs::rotary>;
  for (const operator_description &op : describe_all(of_the_language{})) all.push_back({op.name, op, three_blocks});
  all.push_back({"8 x 64 with lengths, masks and LSE", gpu_trial::attention(8, 8, 64, 64), two_blocks});
  operator_description &masked = all.back().op;
  masked.n.key_lengths = masked.n.returns_lse = true;
  masked.n.masked_values = masked_value_policy::anything;
  masked.inputs = {{"mask", tensor_role::boolean_mask, element_type::boolean, 3, {axis_name::batch, axis_name::query, axis_name::key}},
                   {"bias", tensor_role::additive_mask, element_type::f32, 2, {axis_name::query, axis_name::key}}};
  masked.mask_functions = {[](const position_expr &at, const input_reader &) { return at.query - at.key < 512; }};
  return all;
}

} // namespace

TEST_CASE("kernels assemble without spills") {
  const target_info &cuda = info_of(target_id::cuda_sm80);
  for (const shape &s : shapes()) {
    CAPTURE(s.name, name_of(s.op.n.element));
    REQUIRE(gpu_why_not(s.op, cuda) == "");
    const gpu_kernel kernel(build_gpu_module(s.op, cuda, gpu_default(s.op, cuda), "kernel"));
    CHECK(kernel.kernels == (s.op.n.rope.dims > 0 && !s.op.n.rope.angle_tables ? 2 : 1)); // angles before the attention
    const int threads = kernel.threads[0] * kernel.threads[1] * kernel.threads[2];
    CHECK(threads == 128);
    CHECK(kernel.shared_bytes > 0);
    CHECK(kernel.shared_bytes <= 48 * 1024);
    for (const char *architecture : {"sm_80", "sm_90"}) {
      const assembly a = assemble(kernel.ptx, architecture);
      CAPTURE(architecture, a.log);
      REQUIRE(a.ended_well);
      CHECK(a.largest("([0-9]+) bytes stack frame") == 0);
      CHECK(a.largest("([0-9]+) bytes spill stores") == 0);
      CHECK(a.largest("([0-9]+) bytes spill loads") == 0);
      const int registers = a.largest("Used ([0-9]+) registers");
      CHECK(registers > 0);
      CHECK(registers <= s.registers);
      std::printf("%-36s %-4s %s: %3d registers, %5d bytes of shared memory\n", s.name.c_str(), name_of(s.op.n.element), architecture, registers, kernel.shared_bytes);
    }
  }
}

TEST_CASE("arguments stand in the order of the artefact record") {
  operator_description op = gpu_trial::attention(4, 2, 64, 64);
  op.n.scale = op.n.softcap = op.n.window = {setting::at_call, 0};
  op.n.causal = causal_alignment::bottom_right;
  op.n.key_lengths = op.n.returns_lse = true;
  op.inputs = {{"mask", tensor_role::boolean_mask, element_type::boolean, 2, {axis_name::batch, axis_name::key}}};
  const target_info &cuda = info_of(target_id::cuda_sm80);
  const Halide::Module module = build_gpu_module(op, cuda, gpu_default(op, cuda), "kernel");
  const Halide::Internal::LoweredFunc kernel = module.get_function_by_name("kernel");
  std::vector<std::string> names;
  for (const auto &argument : kernel.args) names.push_back(argument.name);
  // Names of written Funcs may end in $ and a number.
  for (std::string &name : names) name = name.substr(0, name.find('$'));
  CHECK(names == std::vector<std::string>{"__user_context", "query", "key", "value", "mask", "key_lengths", "scale", "softcap", "window", "output", "lse"});
}

TEST_CASE("what a GPU can't carry is said in one sentence") {
  const target_info &cuda = info_of(target_id::cuda_sm80);
  operator_description op = gpu_trial::attention(2, 2, 64, 64);
  op.n.returns_weights = true;
  CHECK_THAT(gpu_why_not(op, cuda), Catch::StartsWith("attention weights are not returned on cuda_sm80"));
  CHECK_THROWS_AS(build_gpu_module(op, cuda, gpu_default(gpu_trial::attention(2, 2, 64, 64), cuda), "kernel"), std::invalid_argument);
  op = gpu_trial::attention(2, 2, 64, 64);
  op.n.returns_capped_scores = true;
  CHECK_THAT(gpu_why_not(op, cuda), Catch::StartsWith("scores are not returned on cuda_sm80"));
  op = gpu_trial::attention(2, 2, 64, 64);
  op.n.source = source_kind::projection;
  CHECK_THAT(gpu_why_not(op, cuda), Catch::StartsWith("projections are not available on cuda_sm80"));
  CHECK_THAT(gpu_why_not(gpu_trial::attention(2, 2, 1024, 1024), cuda), Catch::StartsWith("head_dim 1024 with value_dim 1024 does not fit on cuda_sm80: "));
}

int main(int argc, char **argv) {
  if (std::system("ptxas --version > /dev/null 2>&1") != 0) {
    std::printf("not run: ptxas is not on PATH\n");
    return 77;
  }
  return Catch::Session().run(argc, argv);
}

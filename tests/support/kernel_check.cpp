// kernel_check SPEC TARGET [WORK]: one kernel of the linked library through its standard cases, without the largest where they
// take the reference more than WORK multiply-adds.
// kernel_check under COMMAND... SPEC TARGET WORK: the same by `COMMAND... SPEC TARGET WORK ask`, a kernel_check that an emulator runs and
// that has inputs and the reference's answers from this one.
// Exit status: 0 all cases agree with the reference, 1 some do not, a kernel had no case or the target is not in the build, 77 it cannot run here.
#include "generated/check.hpp"
#include "runtime/dispatch.hpp"
#include "tests/support/native_answers.hpp"
#include "tests/support/tested_kernel.hpp"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>

namespace attune {
namespace {

constexpr int not_run = 77, shown_failures = 5;

const tested_kernel &find_kernel(std::string_view spec) {
  for (const tested_kernel &k : tested_kernels())
    if (spec == k.spec) return k;
  throw std::runtime_error("no kernel of spec " + std::string(spec) + " is linked into this program");
}

target_report report_on(const artefact_info &info, target_id target) {
  const std::vector<target_report> all = targets(info);
  return *std::find_if(all.begin(), all.end(), [&](const target_report &r) { return r.target == target; });
}

check_result check_by(const native_answers &native, const artefact_info &info, target_id target, check_call call) {
  const reference_answer expected = native.ask(call);
  return check_kernel(info, target, call, expected);
}

int check_all(const tested_kernel &kernel, const target_info &target, double work, const native_answers *native) {
  const artefact_info &info = kernel.info();
  const target_report report = report_on(info, target.id);
  if (!report.in_build) throw std::runtime_error(std::string(kernel.spec) + " is not in this build for " + target.name);
  if (!report.runs_here) {
    std::printf("not run: %s for %s: %s\n", kernel.spec, target.name, report.why_not.c_str());
    return not_run;
  }
  const auto variant = std::find_if(info.variants, info.variants + info.variant_count, [&](const artefact_variant &v) { return v.target == target.id; });
  const reference_operator op = kernel.refer();
  const auto weights = std::make_shared<check_weights>(op.n, 1);
  const std::vector<check_case> cases = standard_cases(op.n, *variant, work);
  int failed = 0;
  for (const check_case &how : cases) {
    const check_result result = native ? check_by(*native, info, target.id, check_call(check_call::unfilled{}, op, how, weights)) : check_kernel(info, op, target.id, how, weights);
    if (!result.passed && ++failed <= shown_failures) std::printf("%s\n", result.text.c_str());
  }
  const std::size_t all = standard_cases(op.n, *variant, std::numeric_limits<double>::infinity()).size();
  std::printf("%s for %s: %d of %zu cases are wrong; %zu larger ones are left out\n", kernel.spec, target.name, failed, cases.size(), all - cases.size());
  const std::vector<int> counts = cases_by_kernel(*variant, cases);
  for (int i = 0; i < variant->kernel_count; ++i) std::printf("  %d cases ran %s\n", counts[static_cast<std::size_t>(i)], variant->kernels[i].schedule);
  const bool all_ran = std::count(counts.begin(), counts.end(), 0) == 0;
  if (!all_ran) std::printf("%s for %s: a kernel was not checked: the reference needs more work than it was allowed\n", kernel.spec, target.name);
  return failed > 0 || !all_ran ? 1 : 0;
}

} // namespace
} // namespace attune

int main(int argc, char **argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  const bool under = words.size() > 4 && words[0] == "under", asks = words.size() == 4 && words[3] == "ask";
  if (!under && !asks && words.size() != 2 && words.size() != 3) {
    std::fprintf(stderr, "usage: kernel_check SPEC TARGET [WORK [ask]], or kernel_check under COMMAND... SPEC TARGET WORK\n");
    return 1;
  }
  try {
    char **const subject = under ? argv + argc - 3 : argv + 1; // SPEC TARGET [WORK]
    const attune::tested_kernel &kernel = attune::find_kernel(subject[0]);
    const attune::target_info *target = attune::find_target(subject[1]);
    if (!target) throw std::runtime_error(std::string("there is no target ") + subject[1]);
    if (under) {
      std::vector<char *> command(argv + 2, argv + argc);
      char ask[] = "ask";
      command.insert(command.end(), {ask, nullptr});
      return attune::run_with_answers(kernel, target->id, command);
    }
    std::optional<attune::native_answers> native;
    if (asks) native.emplace(kernel, target->id);
    return attune::check_all(kernel, *target, subject[2] ? std::atof(subject[2]) : 1e10, native ? &*native : nullptr);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "kernel_check: %s\n", e.what());
    return 1;
  }
}

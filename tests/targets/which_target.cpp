// which_target [TARGET]: runs one call of a stock kernel on the target that a call takes by itself, or on TARGET, and says
// which that was, or the sentence with which the call was refused.
#include "attune_stock/gpt2.hpp"
#include "generated/check.hpp"
#include "dsl/reference/refer.hpp"
#include "generated/stock/gpt2.hpp"
#include "runtime/dispatch.hpp"
#include <cstdio>

int main(int argc, char **argv) {
  using namespace attune;
  using spec = attune::stock::gpt2;
  call_options options;
  if (argc > 1) {
    const target_info *target = find_target(argv[1]);
    if (!target) return std::fprintf(stderr, "there is no target %s\n", argv[1]), 1;
    options.target = target->id;
  }
  check_case how;
  how.queries = how.keys = 5;
  check_call call(refer<spec>(), how);
  const status ended = call.run(artefact<spec>::info(), options);
  if (!ended) return std::printf("refused: %s\n", ended.message()), 1;
  const std::string wrong = call.differences(call.reference());
  const chosen_variant chosen = choose_variant(artefact<spec>::info(), options.target);
  std::printf("gpt2 runs on %s here%s\n", info_of(chosen.variant->target).name, wrong.empty() ? "" : (", but " + wrong).c_str());
  return wrong.empty() ? 0 : 1;
}

// Every two features meet in one of the specs of tests/specs/combinations.hpp, whose kernels are checked on every target
// (correctness.combination.*). What a spec has is read from its flat form, not from its name.
#include "tests/support/tested_kernel.hpp"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace attune;

namespace {

struct feature {
  const char *name;
  bool (*is_in)(const reference_operator &);
};

bool declares(const reference_operator &op, tensor_role role) {
  return std::any_of(op.inputs.begin(), op.inputs.end(), [&](const input_declaration &i) { return i.role == role; });
}

const feature features[] = {
    {"causal", [](const reference_operator &op) { return op.n.causal != causal_alignment::off; }},
    {"window", [](const reference_operator &op) { return op.n.window.kind != setting::off; }},
    {"lengths", [](const reference_operator &op) { return op.n.key_lengths; }},
    {"boolean", [](const reference_operator &op) { return declares(op, tensor_role::boolean_mask); }},
    {"additive", [](const reference_operator &op) { return declares(op, tensor_role::additive_mask); }},
    {"softcap", [](const reference_operator &op) { return op.n.softcap.kind != setting::off; }},
    {"alibi", [](const reference_operator &op) { return !op.score_functions.empty(); }},
    {"rope", [](const reference_operator &op) { return op.n.rope.dims > 0; }},
    {"gqa", [](const reference_operator &op) { return op.n.kv_heads < op.n.heads; }},
    {"value_dim", [](const reference_operator &op) { return op.n.value_dim != op.n.head_dim; }},
    {"paged", [](const reference_operator &op) { return is_paged(op.n); }},
    {"lse", [](const reference_operator &op) { return op.n.returns_lse; }},
};

} // namespace

TEST_CASE("every two features meet in a spec") {
  for (const feature &first : features)
    for (const feature &second : features) {
      if (&first >= &second) continue;
      INFO(first.name << " and " << second.name);
      CHECK(std::any_of(tested_kernels().begin(), tested_kernels().end(), [&](const tested_kernel &k) {
        const reference_operator op = k.refer();
        return first.is_in(op) && second.is_in(op);
      }));
    }
}

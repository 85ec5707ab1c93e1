// Which target the tests of this program run on: the environment variable ATTUNE_TEST_TARGET names it (tests/support/catch_main.cpp).
#pragma once
#include "generated/check.hpp"
#include "dsl/reference/refer.hpp"
#include <catch2/catch.hpp>

namespace attune {

target_id target_under_test();

inline call_options options_under_test(int threads = 0) {
  call_options options;
  options.target = target_under_test();
  options.threads = threads;
  return options;
}

/// A call of Spec's kernel with its check_call, for tests that set their own inputs.
template <class Spec> struct kernel_call : check_call {
  explicit kernel_call(const check_case &how) : check_call(refer<Spec>(), how) {}
  status run(int threads = 0) { return check_call::run(artefact<Spec>::info(), options_under_test(threads)); }
  /// Runs it, and requires that it succeeds.
  void must_run(int threads = 0) {
    const status ended = run(threads);
    INFO(ended.message());
    REQUIRE(ended);
  }
  /// Runs it, and requires that it agrees with the reference.
  void must_agree() {
    must_run();
    CHECK(differences(reference()) == "");
  }
  double output(std::vector<std::int64_t> at) const { return tensor("output").get(at); }
  double lse(std::vector<std::int64_t> at) const { return tensor("lse").get(at); }
};

} // namespace attune

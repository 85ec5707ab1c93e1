// Kernels at schedules of the test's choice, for the target under test: compiled in processes of their own, loaded into this one.
// Their calls are checked as those of emitted kernels are.
#pragma once
#include "dsl/pipeline/describe.hpp"
#include "generated/tuning/trial_kernel.hpp"
#include "schedules/family.hpp"
#include "tests/support/target_under_test.hpp"
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace attune {

/// Parameters of a schedule by their names.
using parameters = std::vector<std::pair<std::string, int>>;

/// Lanes of a vector of f32 on the target under test.
int lanes_under_test();

/// The family's default point with some of its parameters replaced. Throws std::logic_error if that is no legal point.
schedule_point point_of(const std::string &family, const operator_description &, const parameters &replaced = {});

/// The kernel of each point, in their order; takes calls of every length. As many compile at a time as this process may use CPUs.
/// Throws std::runtime_error where one fails.
using pinned_kernel = std::unique_ptr<const trial_kernel>;
std::vector<pinned_kernel> compile_kernels(const operator_description &, const std::vector<schedule_point> &);
inline pinned_kernel compile_kernel(const operator_description &op, const schedule_point &point) { return std::move(compile_kernels(op, {point}).front()); }

/// A call of a pinned kernel, for tests that set their own inputs.
template <class Spec> struct pinned_call : check_call {
  pinned_call(const trial_kernel &kernel, const check_case &how) : check_call(refer<Spec>(), how), info_(kernel.info()) {}
  void must_run(int threads = 0) {
    const status ended = run(info_, options_under_test(threads));
    INFO(info_.variants->kernels->schedule << ": " << ended.message());
    REQUIRE(ended);
  }
  void must_agree() {
    must_run();
    INFO(info_.variants->kernels->schedule);
    CHECK(differences(reference()) == "");
  }

private:
  const artefact_info &info_;
};

/// Key lengths of a call, one per batch: keys and values up to them as N(0,1), beyond them NaN.
void set_lengths(check_call &, const std::vector<int> &lengths);

/// Writes an element's bits as they are; 16-bit elements take the low half.
void set_bits(check_tensor &, const std::vector<std::int64_t> &at, std::uint32_t bits);

inline check_case shape(int batch, int queries, int keys, memory_order order = memory_order::bhsd) {
  check_case c;
  c.batch = batch, c.queries = queries, c.keys = keys, c.order = order;
  return c;
}

} // namespace attune

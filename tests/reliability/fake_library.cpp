#include "fake_library.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/memory.hpp"
#include "runtime/threads.hpp"
#include <algorithm>
#include <climits>
#include <cstring>
#include <mutex>
#include <string>

using namespace attune;

namespace fake {
namespace {

std::mutex lock;
recording record;
std::atomic<int> failure_code{0};
const char *failure_text = "";

const halide_buffer_t &buffer_at(void **argv, int i) { return *static_cast<const halide_buffer_t *>(argv[i]); }

recorded_buffer copy_of(const halide_buffer_t &b) { return {b.host, b.type, {b.dim, b.dim + b.dimensions}}; }

template <class Spec> recording read_arguments(void **argv, target_id target) {
  constexpr signature s = artefact<Spec>::call;
  recording r;
  r.target = target;
  r.threads = static_cast<const call_context *>(*static_cast<void **>(argv[0]))->threads;
  int at = 1;
  for (int i = 0; i < s.tensor_count; ++i) {
    const int matrices = artefact<Spec>::n.output_dim > 0 ? 4 : 3;
    const int buffers = s.tensors[i].role == tensor_role::packed_weights ? 2 * matrices : s.tensors[i].written ? 0 : 1;
    for (int b = 0; b < buffers; ++b) r.read.push_back(copy_of(buffer_at(argv, at++)));
  }
  for (int i = 0; i < s.number_count; ++i) {
    if (s.call_numbers[i] == number_role::window) r.integers.push_back(*static_cast<std::int32_t *>(argv[at++]));
    else r.reals.push_back(*static_cast<float *>(argv[at++]));
  }
  for (int i = 0; i < s.tensor_count; ++i)
    if (s.tensors[i].written) r.written.push_back(copy_of(buffer_at(argv, at++)));
  return r;
}

template <class Body> void each_element(const recorded_buffer &b, Body body) {
  std::vector<int> index(b.axes.size(), 0);
  for (const halide_dimension_t &d : b.axes)
    if (d.extent == 0) return;
  for (;;) {
    std::int64_t offset = 0;
    for (std::size_t a = 0; a < index.size(); ++a) offset += std::int64_t{index[a]} * b.axes[a].stride;
    body(index, offset);
    std::size_t a = 0;
    while (a < index.size() && ++index[a] == b.axes[a].extent) index[a++] = 0;
    if (a == index.size()) return;
  }
}

/// Writes twice the first input's first element of the same outer indices: each task through a block of the workspace.
void compute(const recording &r, const call_context *context) {
  struct task_data {
    const recording &r;
    const call_context *context;
  } data{r, context};
  run_tasks(context, static_cast<int>(r.written.size()), [](void *self, int i) {
    const task_data &d = *static_cast<task_data *>(self);
    const recorded_buffer &to = d.r.written[static_cast<std::size_t>(i)], &from = d.r.read[0];
    float *scratch = static_cast<float *>(workspace_allocate(d.context, 1000));
    each_element(to, [&](const std::vector<int> &index, std::int64_t offset) {
      std::int64_t source = 0;
      for (std::size_t a = 1; a < from.axes.size() && a < index.size(); ++a) source += std::int64_t{std::min(index[a], from.axes[a].extent - 1)} * from.axes[a].stride;
      if (to.type.bits != 32) return static_cast<void>(static_cast<std::uint16_t *>(to.host)[offset] = 0x4000);
      scratch[17] = from.type.bits == 32 ? 2 * static_cast<const float *>(from.host)[source] : 2;
      static_cast<float *>(to.host)[offset] = scratch[17];
    });
    workspace_release(d.context, scratch);
  }, &data);
}

template <class Spec, target_id T, int Kernel = 0> int run(void **argv) {
  call_context *context = static_cast<call_context *>(*static_cast<void **>(argv[0]));
  recording r = read_arguments<Spec>(argv, T);
  r.kernel = Kernel;
  if (const int code = failure_code) {
    std::strncpy(context->error_text, failure_text, sizeof context->error_text - 1);
    return code;
  }
  compute(r, context);
  const std::lock_guard<std::mutex> hold(lock);
  r.calls = record.calls + 1;
  record = r;
  return 0;
}

constexpr int lanes = 8;

/// Packs without pairs: in each panel a row of lanes for each feature in. Zero behind the last feature out.
template <class Spec> int pack(void **argv) {
  const halide_buffer_t &from = buffer_at(argv, 1), &to = buffer_at(argv, 2);
  if (const int code = failure_code) return code;
  each_element(copy_of(to), [&](const std::vector<int> &index, std::int64_t offset) {
    const int place = index.at(0), panel = index.at(1), in = place / lanes, out = panel * lanes + place % lanes;
    const float x = out < from.dim[0].extent
                        ? reinterpret_cast<const float *>(from.host)[std::int64_t{out} * from.dim[0].stride + std::int64_t{in} * from.dim[1].stride]
                        : 0.0f;
    if (to.type.bits == 32) reinterpret_cast<float *>(to.host)[offset] = x;
    else reinterpret_cast<std::uint16_t *>(to.host)[offset] = bf16_t(x).bits;
  });
  return 0;
}

template <class Spec, target_id T> constexpr artefact_kernel one_kernel[] = {{INT_MAX, INT_MAX, run<Spec, T>, "by hand"}};
template <class Spec> constexpr artefact_variant own_variants[] = {
    {target_id::avx2, one_kernel<Spec, target_id::avx2>, 1, is_projected(artefact<Spec>::n) ? pack<Spec> : nullptr, lanes},
    {target_id::avx512, one_kernel<Spec, target_id::avx512>, 1, is_projected(artefact<Spec>::n) ? pack<Spec> : nullptr, lanes},
    {target_id::neon, one_kernel<Spec, target_id::neon>, 1, is_projected(artefact<Spec>::n) ? pack<Spec> : nullptr, lanes},
    {target_id::cuda_sm80, one_kernel<Spec, target_id::cuda_sm80>, 1, nullptr, 0}};

template <target_id T> constexpr artefact_kernel kernels_by_length[] = {{4, 512, run<by_length, T, 0>, "few queries, few keys"},
                                                                        {4, INT_MAX, run<by_length, T, 1>, "few queries"},
                                                                        {INT_MAX, 512, run<by_length, T, 2>, "few keys"},
                                                                        {INT_MAX, INT_MAX, run<by_length, T, 3>, "all others"}};
constexpr artefact_variant by_length_variants[] = {{target_id::avx2, kernels_by_length<target_id::avx2>, 4, nullptr, 0},
                                                   {target_id::neon, kernels_by_length<target_id::neon>, 4, nullptr, 0}};

#if defined(__x86_64__)
constexpr target_id other = target_id::neon;
#else
constexpr target_id other = target_id::avx2;
#endif
constexpr artefact_variant elsewhere_variants[] = {{other, one_kernel<elsewhere, other>, 1, nullptr, 0},
                                                   {target_id::cuda_sm80, one_kernel<elsewhere, target_id::cuda_sm80>, 1, nullptr, 0}};

template <class Spec> constexpr artefact_info info_named(const char *name) {
  return {name, artefact<Spec>::hash, artefact<Spec>::n, artefact<Spec>::call, own_variants<Spec>, 4};
}
constexpr artefact_info plain_info = info_named<plain>("fake::plain"), masked_info = info_named<masked>("fake::masked"), strict_info = info_named<strict>("fake::strict"),
                        layer_info = info_named<layer>("fake::layer"), crossed_info = info_named<crossed>("fake::crossed"), guided_info = info_named<guided>("fake::guided"),
                        paged_info = info_named<paged>("fake::paged");
constexpr artefact_info elsewhere_info{"fake::elsewhere", artefact<elsewhere>::hash, artefact<elsewhere>::n, artefact<elsewhere>::call, elsewhere_variants, 2};
constexpr artefact_info stale_info{"fake::stale", "8888888888888888", artefact<stale>::n, artefact<stale>::call, own_variants<stale>, 4};
constexpr artefact_info by_length_info{"fake::by_length", artefact<by_length>::hash, artefact<by_length>::n, artefact<by_length>::call, by_length_variants, 2};
constexpr const artefact_info *held[] = {&plain_info, &masked_info, &strict_info, &layer_info, &crossed_info, &elsewhere_info, &stale_info, &by_length_info, &guided_info, &paged_info};
constexpr library_info library{"fake", held, 10, nullptr};
const bool known_at_start = (register_library(library), true);

} // namespace

recording last() {
  const std::lock_guard<std::mutex> hold(lock);
  return record;
}
void forget() {
  fail_with(0, "");
  const std::lock_guard<std::mutex> hold(lock);
  record = {};
}
void fail_with(int code, const char *text) {
  failure_text = text;
  failure_code = code;
}

target_id best_target() {
  target_id best = target_id::cuda_sm80;
  for (const target_report &r : targets(plain_info))
    if (r.in_build && r.runs_here && info_of(r.target).device == device_kind::cpu) best = r.target;
  return best;
}
target_id least_target() {
  for (const target_report &r : targets(plain_info))
    if (r.in_build && r.runs_here && info_of(r.target).device == device_kind::cpu) return r.target;
  return target_id::cuda_sm80;
}
target_id foreign_target() { return other; }

} // namespace fake

namespace attune {
const artefact_info &artefact<fake::plain>::info() { return fake::plain_info; }
const artefact_info &artefact<fake::masked>::info() { return fake::masked_info; }
const artefact_info &artefact<fake::strict>::info() { return fake::strict_info; }
const artefact_info &artefact<fake::layer>::info() { return fake::layer_info; }
const artefact_info &artefact<fake::crossed>::info() { return fake::crossed_info; }
const artefact_info &artefact<fake::elsewhere>::info() { return fake::elsewhere_info; }
const artefact_info &artefact<fake::stale>::info() { return fake::stale_info; }
const artefact_info &artefact<fake::by_length>::info() { return fake::by_length_info; }
const artefact_info &artefact<fake::guided>::info() { return fake::guided_info; }
const artefact_info &artefact<fake::paged>::info() { return fake::paged_info; }
} // namespace attune

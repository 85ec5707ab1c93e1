// The tile classifier at work: the tiles that run are counted as they run, and compared with arithmetic on the mask.
#include "catch2/catch.hpp"
#include "schedules/cpu_blocked.hpp"
#include "schedules/family.hpp"
#include "small_operator.hpp"
#include <functional>
#include <mutex>
#include <set>

namespace {
using namespace attune;

// Which vectors of scores were read to be stored: a tile that is skipped reads none.
using coordinates = std::vector<std::int32_t>;
std::mutex seen_by_threads;
std::set<coordinates> full_vectors, masked_vectors;

int note_score(Halide::JITUserContext *, const halide_trace_event_t *event) {
  if (event->event != halide_trace_load) return 0;
  const bool full = std::string(event->func).rfind("full_dot", 0) == 0;
  const std::lock_guard lock(seen_by_threads);
  (full ? full_vectors : masked_vectors).emplace(event->coordinates, event->coordinates + event->dimensions);
  return 0;
}

struct tiles {
  long full, masked;
};

/// Runs the operator on zeros and counts the register tiles of scores that ran: query_vectors x 8 queries by dot_keys keys.
tiles run(const operator_description &op, const schedule_point &point, int queries, int keys, const std::vector<int> &lengths) {
  const target_info &target = *find_target("avx2");
  call_arguments args(op);
  blocked_attention attention(op, args, operand_source(args), blocking_of(op, target, point));
  Halide::Func output("output_tensor");
  output(attention.d, attention.q, attention.h, attention.b) = attention.output(attention.d, attention.q, attention.h, attention.b);
  output.output_buffer().dim(0).set_bounds(0, op.n.value_dim);
  schedule_cpu_blocked(attention, output, op, target, point);
  for (blocked_attention::score_pass &pass : attention.score_passes) pass.dot.trace_loads();

  const auto batches = static_cast<int>(lengths.size());
  Halide::Buffer<float> q(op.n.head_dim, queries, op.n.heads, batches), k(op.n.head_dim, keys, op.n.kv_heads, batches),
      v(op.n.value_dim, keys, op.n.kv_heads, batches), out(op.n.value_dim, queries, op.n.heads, batches);
  for (auto *tensor : {&q, &k, &v}) tensor->fill(0.0f);
  args.query.set(q), args.key.set(k), args.value.set(v);
  Halide::Buffer<int> length_buffer(batches);
  for (int b = 0; b < batches; ++b) length_buffer(b) = lengths[b];
  if (op.n.key_lengths) args.key_lengths.set(length_buffer);
  output.jit_handlers().custom_trace = note_score;
  full_vectors.clear(), masked_vectors.clear();
  output.realize(out, Halide::Target(target.halide_target).with_feature(Halide::Target::JIT));
  const long vectors = point.at("query_vectors") * point.at("dot_keys");
  return {static_cast<long>(full_vectors.size()) / vectors, static_cast<long>(masked_vectors.size()) / vectors};
}

/// What must run: a block of query_tile queries by key_block keys runs if some pair of it is allowed, and unmasked if all are.
tiles expected(const operator_description &op, const schedule_point &point, int queries, int keys, const std::vector<int> &lengths,
               const std::function<bool(int query, int key)> &allowed) {
  const blocking cut = blocking_of(op, target, point);
  tiles t{0, 0};
  for (const int length : lengths)
    for (int q0 = 0; q0 < queries; q0 += cut.query_tile)
      for (int k0 = 0; k0 < keys; k0 += cut.key_block) {
        bool any = false, all = k0 + cut.key_block <= length;
        for (int q = q0; q < std::min(q0 + cut.query_tile, queries); ++q)
          for (int k = k0; k < std::min(k0 + cut.key_block, length); ++k) (allowed(q, k) ? any : all) = allowed(q, k);
        if (any) (all ? t.full : t.masked)++;
      }
  const int per_block = cut.query_tile / (point.at("query_vectors") * 8) * (cut.key_block / cut.dot_keys);
  return {t.full * per_block * op.n.heads, t.masked * per_block * op.n.heads};
}

schedule_point default_point(const operator_description &op) { return find_family("chunk").default_point(op, *find_target("avx2")); }

void check(const operator_description &op, int queries, int keys, const std::vector<int> &lengths, const std::function<bool(int, int)> &allowed) {
  const schedule_point point = default_point(op);
  const tiles got = run(op, point, queries, keys, lengths), want = expected(op, point, queries, keys, lengths, allowed);
  INFO(point.text() << ", " << queries << " queries, " << keys << " keys");
  CHECK(got.full == want.full);
  CHECK(got.masked == want.masked);
}
} // namespace

TEST_CASE("without a mask only the last block of keys is masked") {
  const operator_description op = small_operator(2, 16);
  for (const int keys : {1, 63, 64, 65, 600}) check(op, 50, keys, {keys}, [](int, int) { return true; });
}

TEST_CASE("causal: blocks above the diagonal do not run, blocks below it run unmasked") {
  operator_description op = small_operator(1, 16);
  op.n.causal = causal_alignment::bottom_right;
  for (const auto &[queries, keys] : {std::pair{100, 100}, {600, 600}, {70, 300}, {300, 70}, {1, 129}})
    check(op, queries, keys, {keys}, [queries = queries, keys = keys](int q, int k) { return k <= q + keys - queries; });
  op.n.causal = causal_alignment::top_left;
  check(op, 100, 300, {300}, [](int q, int k) { return k <= q; });
}

TEST_CASE("a sliding window runs what it covers: linear in the length") {
  operator_description op = small_operator(1, 16);
  op.n.causal = causal_alignment::diagonal;
  op.n.same_extents = true;
  op.n.window = {setting::fixed, 100};
  for (const int n : {99, 500, 2000}) check(op, n, n, {n}, [](int q, int k) { return k <= q && q - k <= 100; });
  const schedule_point point = default_point(op);
  const tiles once = run(op, point, 4800, 4800, {4800}), twice = run(op, point, 9600, 9600, {9600});
  CHECK(10 * (twice.full + twice.masked) < 21 * (once.full + once.masked));
}

TEST_CASE("keys past a batch's length do not run") {
  operator_description op = small_operator(1, 16);
  op.n.key_lengths = true;
  check(op, 60, 400, {400, 0, 130, 1}, [](int, int) { return true; });
}

TEST_CASE("a user's mask function skips empty blocks and leaves full ones unmasked") {
  operator_description op = small_operator(1, 16);
  SECTION("block diagonal") {
    op.mask_functions.push_back([](const position_expr &at, const input_reader &) { return at.query / 96 == at.key / 96; });
    check(op, 400, 400, {400}, [](int q, int k) { return q / 96 == k / 96; });
  }
  SECTION("prefix or causal") {
    op.mask_functions.push_back([](const position_expr &at, const input_reader &) { return at.key <= at.query || at.key < 70; });
    check(op, 300, 300, {300}, [](int q, int k) { return k <= q || k < 70; });
  }
  SECTION("a window, written as a function") {
    op.mask_functions.push_back([](const position_expr &at, const input_reader &) { return at.key <= at.query && at.query - at.key < 50; });
    check(op, 700, 700, {700}, [](int q, int k) { return k <= q && q - k < 50; });
  }
  SECTION("with a softcap and a score function that selects by score") {
    op.n.softcap = {setting::fixed, 20};
    op.score_functions.push_back([](Halide::Expr s, const position_expr &, const input_reader &) { return Halide::select(s < 0.0f, s * 0.5f, s + 1.0f); });
    op.mask_functions.push_back([](const position_expr &at, const input_reader &) { return at.query / 64 == at.key / 64; });
    check(op, 300, 300, {300}, [](int q, int k) { return q / 64 == k / 64; });
  }
  SECTION("with causal and lengths") {
    op.n.causal = causal_alignment::bottom_right;
    op.n.key_lengths = true;
    op.mask_functions.push_back([](const position_expr &at, const input_reader &) { return at.query - at.key < 200; });
    check(op, 300, 500, {500, 333}, [](int q, int k) { return k <= q + 200 && q - k < 200; });
  }
}

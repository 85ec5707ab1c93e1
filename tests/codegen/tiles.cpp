// The tile classifier at work: the tiles that run are counted as they run, and compared with arithmetic on the mask.
#include "catch2/catch.hpp"
#include "schedules/cpu_blocked.hpp"
#include "schedules/cpu_decode.hpp"
#include "schedules/family.hpp"
#include "small_operator.hpp"
#include <functional>
#include <map>
#include <mutex>
#include <set>

namespace {
using namespace attune;

const target_info &target = *find_target("avx2");

// Loads that were traced, each with its coordinates: the vectors of scores that were read to be stored (a tile that is skipped reads
// none), or the keys whose features were read.
using coordinates = std::vector<std::int32_t>;
std::mutex seen_by_threads;
std::set<coordinates> full_vectors, masked_vectors;
std::map<std::string, std::set<int>> keys_read; ///< from `key` and `value`

int note_score(Halide::JITUserContext *, const halide_trace_event_t *event) {
  if (event->event != halide_trace_load) return 0;
  const bool full = std::string(event->func).rfind("full_dot", 0) == 0;
  const std::lock_guard lock(seen_by_threads);
  (full ? full_vectors : masked_vectors).emplace(event->coordinates, event->coordinates + event->dimensions);
  return 0;
}

/// Coordinates of a vector lie lane by lane for each axis; the key is the second axis of `key` and `value`.
int note_key(Halide::JITUserContext *, const halide_trace_event_t *event) {
  if (event->event != halide_trace_load) return 0;
  const std::lock_guard lock(seen_by_threads);
  const int lanes = event->type.lanes;
  keys_read[event->func].insert(event->coordinates + lanes, event->coordinates + 2 * lanes);
  return 0;
}

using tensors = std::vector<Halide::Buffer<>>; ///< of a spec's inputs, innermost first
using trace_hook = int (*)(Halide::JITUserContext *, const halide_trace_event_t *);

/// Runs a pipeline on zeros. `output` is its laid out result, with axes (d, q, h, b).
void realize(Halide::Func output, call_arguments &args, const operator_description &op, int queries, int keys, const std::vector<int> &lengths, const tensors &inputs, trace_hook note) {
  const auto batches = static_cast<int>(lengths.size());
  Halide::Buffer<float> q(op.n.head_dim, queries, op.n.heads, batches), k(op.n.head_dim, keys, op.n.kv_heads, batches),
      v(op.n.value_dim, keys, op.n.kv_heads, batches), out(op.n.value_dim, queries, op.n.heads, batches);
  for (auto *tensor : {&q, &k, &v}) tensor->fill(0.0f);
  args.query.set(q), args.key.set(k), args.value.set(v);
  Halide::Buffer<int> length_buffer(batches);
  for (int b = 0; b < batches; ++b) length_buffer(b) = lengths[b];
  if (op.n.key_lengths) args.key_lengths.set(length_buffer);
  for (std::size_t i = 0; i < inputs.size(); ++i) args.inputs[i].set(inputs[i]);
  output.jit_handlers().custom_trace = note;
  output.realize(out, Halide::Target(target.halide_target).with_feature(Halide::Target::JIT));
}

struct tiles {
  long full, masked;
};

/// Counts the register tiles of scores that ran: a strip of queries by dot_keys keys.
tiles run(const operator_description &op, const schedule_point &point, int queries, int keys, const std::vector<int> &lengths, const tensors &inputs = {}) {
  call_arguments args(op);
  blocked_attention attention(op, args, operand_source(args), blocking_of(op, target, point));
  Halide::Func output("output_tensor");
  output(attention.d, attention.q, attention.h, attention.b) = attention.output(attention.d, attention.q, attention.h, attention.b);
  output.output_buffer().dim(0).set_bounds(0, op.n.value_dim);
  schedule_cpu_blocked(attention, output, {}, op, target, point);
  for (blocked_attention::score_pass &pass : attention.score_passes) pass.dot.trace_loads();
  full_vectors.clear(), masked_vectors.clear();
  realize(output, args, op, queries, keys, lengths, inputs, note_score);
  const long vectors = point.at("query_vectors") * point.at("dot_keys");
  return {static_cast<long>(full_vectors.size()) / vectors, static_cast<long>(masked_vectors.size()) / vectors};
}

/// What must run: a block of a strip's queries by key_block keys runs if some pair of it is allowed, and unmasked if all are.
tiles expected(const operator_description &op, const schedule_point &point, int queries, int keys, const std::vector<int> &lengths,
               const std::function<bool(int query, int key)> &allowed) {
  const blocking cut = blocking_of(op, target, point);
  tiles t{0, 0};
  for (const int length : lengths)
    for (int q0 = 0; q0 < queries; q0 += cut.strip)
      for (int k0 = 0; k0 < keys; k0 += cut.key_block) {
        bool any = false, all = k0 + cut.key_block <= length;
        for (int q = q0; q < std::min(q0 + cut.strip, queries); ++q)
          for (int k = k0; k < std::min(k0 + cut.key_block, length); ++k) (allowed(q, k) ? any : all) = allowed(q, k);
        if (any) (all ? t.full : t.masked)++;
      }
  const int per_block = cut.key_block / cut.dot_keys;
  return {t.full * per_block * op.n.heads, t.masked * per_block * op.n.heads};
}

schedule_point default_point(const operator_description &op) { return find_family("chunk").default_point(op, target); }

/// Six strips of one vector to a tile.
schedule_point with_strips(const operator_description &op) {
  schedule_point p{"chunk", {{"query_tile", 48}, {"key_chunk", 128}, {"key_block", 8}, {"query_vectors", 1}, {"dot_keys", 8}, {"dot_unroll", 1},
                             {"row_group", 4}, {"value_vectors", 1}, {"value_unroll", 1}}, "pinned"};
  REQUIRE(find_family("chunk").broken_rule(op, target, p) == "");
  return p;
}

void check_at(const schedule_point &point, const operator_description &op, int queries, int keys, const std::vector<int> &lengths,
              const std::function<bool(int, int)> &allowed, const tensors &inputs = {}) {
  const tiles got = run(op, point, queries, keys, lengths, inputs), want = expected(op, point, queries, keys, lengths, allowed);
  INFO(point.text() << ", " << queries << " queries, " << keys << " keys");
  CHECK(got.full == want.full);
  CHECK(got.masked == want.masked);
}
void check(const operator_description &op, int queries, int keys, const std::vector<int> &lengths, const std::function<bool(int, int)> &allowed, const tensors &inputs = {}) {
  check_at(default_point(op), op, queries, keys, lengths, allowed, inputs);
}

/// Decodes on zeros and returns, of `key` or `value`, which keys were read.
std::set<int> keys_that_decode_reads(const char *tensor, const operator_description &op, int key_streams, int queries, int keys, int length, const tensors &inputs) {
  const schedule_point point{"decode", {{"key_chunk", 128}, {"key_block", 16}, {"key_streams", key_streams}, {"dot_unroll", 1}, {"value_heads", 1}, {"value_vectors", 1}, {"value_unroll", 1}}, "pinned"};
  REQUIRE(find_family("decode").broken_rule(op, target, point) == "");
  call_arguments args(op);
  decode_attention attention(op, args, operand_source(args), decode_blocking_of(op, target, point));
  Halide::Func output("output_tensor");
  output(attention.d, attention.q, attention.h, attention.b) = attention.output(attention.d, attention.q, attention.h, attention.b);
  output.output_buffer().dim(0).set_bounds(0, op.n.value_dim);
  schedule_cpu_decode(attention, output, {}, op, target, point);
  args.key.trace_loads(), args.value.trace_loads();
  keys_read.clear();
  realize(output, args, op, queries, keys, {length}, inputs, note_key);
  for (const auto &[name, read] : keys_read)
    if (name.rfind(tensor, 0) == 0) return read;
  return {};
}

/// Decoding reads a block of 16 keys, as far as there are keys, if some pair of it is allowed, and no other.
void check_decode(const operator_description &op, int queries, int keys, int length, const std::function<bool(int query, int key)> &allowed, const tensors &inputs = {}) {
  std::set<int> want;
  for (int block = 0; block < length; block += 16) {
    bool any = false;
    for (int k = block; k < std::min(block + 16, length); ++k)
      for (int q = 0; q < queries; ++q) any = any || allowed(q, k);
    for (int k = block; k < std::min(block + 16, length) && any; ++k) want.insert(k);
  }
  const int key_streams = is_affine(op) && length >= decode_attention::least_streamed_keys ? 4 : 1;
  INFO(queries << " queries, " << keys << " keys in " << key_streams << " streams");
  CHECK(keys_that_decode_reads("key", op, key_streams, queries, keys, length, inputs) == want);
  CHECK(keys_that_decode_reads("value", op, key_streams, queries, keys, length, inputs) == want);
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

namespace {
/// A tensor of one batch and head: axes innermost first, values by index.
template <class T> Halide::Buffer<> filled(const std::vector<int> &extents, const std::function<T(const int *at)> &value) {
  Halide::Buffer<T> b(extents);
  b.for_each_element([&](const int *at) { b(at) = value(at); });
  return b;
}
} // namespace

TEST_CASE("what a mask reads at the call skips the tiles that it leaves empty") {
  operator_description op = small_operator(1, 16);
  const int n = 300;
  const auto document_of = [](int token) { return token / 70; };
  const auto first_only = [&](const int *at) { return document_of(at[0]); };
  SECTION("documents by an id for each query and key") {
    op.inputs = {{"query_document", tensor_role::input, element_type::i32, 1, {axis_name::query}}, {"key_document", tensor_role::input, element_type::i32, 1, {axis_name::key}}};
    op.mask_functions.push_back([](const position_expr &at, const input_reader &read) { return read(0, {at.query}) == read(1, {at.key}); });
    check(op, n, n, {n}, [&](int q, int k) { return document_of(q) == document_of(k); }, {filled<int>({n}, first_only), filled<int>({n}, first_only)});
  }
  SECTION("documents, one tensor, with causal") {
    op.n.same_extents = true, op.n.causal = causal_alignment::diagonal;
    op.inputs = {{"document", tensor_role::input, element_type::i32, 2, {axis_name::batch, axis_name::query}}};
    op.mask_functions.push_back([](const position_expr &at, const input_reader &read) { return read(0, {at.batch, at.query}) == read(0, {at.batch, at.key}); });
    check(op, n, n, {n}, [&](int q, int k) { return document_of(q) == document_of(k) && k <= q; }, {filled<int>({n, 1}, first_only)});
  }
  SECTION("a table over blocks, per head") {
    op.inputs = {{"table", tensor_role::input, element_type::boolean, 3, {axis_name::head, axis_name::query, axis_name::key}}};
    op.mask_functions.push_back([](const position_expr &at, const input_reader &read) { return read(0, {at.head, at.query / 64, at.key / 96}) != 0; });
    const auto set = [](int qb, int kb) { return (qb + 2 * kb) % 3 == 0; };
    check(op, n, n, {n}, [&](int q, int k) { return set(q / 64, k / 96); }, {filled<std::uint8_t>({4, 5, 1}, [&](const int *at) { return set(at[1], at[0]); })});
  }
  SECTION("a boolean mask") {
    op.inputs = {{"boolean_mask", tensor_role::boolean_mask, element_type::boolean, 2, {axis_name::query, axis_name::key}}};
    const auto set = [](int q, int k) { return q / 100 == k / 100 && (q + k != 40); };
    check(op, n, n, {n}, set, {filled<std::uint8_t>({n, n}, [&](const int *at) { return set(at[1], at[0]); })});
    op.n.key_lengths = true;
    check(op, n, n, {170}, set, {filled<std::uint8_t>({n, n}, [&](const int *at) { return set(at[1], at[0]); })});
  }
  SECTION("an additive mask of each element, with a NaN and great numbers") {
    const auto set = [](int q, int k) { return q >= 100 || k < 64; };
    const float infinity = INFINITY;
    for (const element_type e : {element_type::f32, element_type::bf16, element_type::f16}) {
      op.inputs = {{"additive_mask", tensor_role::additive_mask, e, 2, {axis_name::query, axis_name::key}}};
      const auto value = [&](const int *at) { return !set(at[1], at[0]) ? -infinity : at[1] == 7 ? NAN : at[1] == 9 ? -3e38f : at[1] == 12 ? 3e38f : 0.5f; };
      const auto bits = [&](const int *at) -> std::uint16_t {
        const float x = value(at);
        return e == element_type::bf16 ? (std::isnan(x) ? 0xffc0 : x == -infinity ? 0xff80 : 0x3f00) : std::isnan(x) ? 0xfe00 : x == -infinity ? 0xfc00 : 0x3800;
      };
      check(op, n, n, {n}, set, {e == element_type::f32 ? filled<float>({n, n}, value) : filled<std::uint16_t>({n, n}, bits)});
    }
  }
  SECTION("a function of distance that reads an input, and one that reads floats") {
    op.inputs = {{"seen", tensor_role::input, element_type::f32, 1, {axis_name::key}}, {"limit", tensor_role::input, element_type::f32, 1, {axis_name::query}}};
    op.mask_functions.push_back([](const position_expr &at, const input_reader &read) { return read(0, {at.key - at.query + 299}) > 0.5f; });
    op.mask_functions.push_back([](const position_expr &at, const input_reader &read) { return Halide::cast<float>(at.key) < read(1, {at.query}); });
    const auto near = [](int distance) { return distance > -80 && distance < 9; };
    check(op, n, n, {n}, [&](int q, int k) { return near(k - q) && k < 3 * q; },
          {filled<float>({2 * n}, [&](const int *at) { return near(at[0] - 299) ? 1.0f : -1.0f; }), filled<float>({n}, [&](const int *at) { return static_cast<float>(3 * at[0]); })});
  }
  SECTION("a NaN among the floats that a function reads leaves its tiles partly masked") {
    op.inputs = {{"bias", tensor_role::input, element_type::f32, 1, {axis_name::key}}};
    op.mask_functions.push_back([](const position_expr &at, const input_reader &read) { return read(0, {at.key}) > 0.0f; });
    const tiles clean = run(op, default_point(op), n, n, {n}, {filled<float>({n}, [](const int *) { return 1.0f; })});
    const tiles with_nan = run(op, default_point(op), n, n, {n}, {filled<float>({n}, [](const int *at) { return at[0] == 5 ? NAN : 1.0f; })});
    CHECK(with_nan.full < clean.full);
    CHECK(with_nan.full + with_nan.masked == clean.full + clean.masked);
  }
  SECTION("a read at an index that was read: computed, except where the rest of the mask empties it") {
    op.inputs = {{"row", tensor_role::input, element_type::i32, 1, {axis_name::query}}, {"seen", tensor_role::input, element_type::boolean, 1, {axis_name::key}}};
    op.mask_functions.push_back([](const position_expr &at, const input_reader &read) { return read(1, {read(0, {at.query})}) != 0 && at.key < 100; });
    const tiles got = run(op, default_point(op), n, n, {n}, {filled<int>({n}, [](const int *at) { return 299 - at[0]; }), filled<std::uint8_t>({n}, [](const int *) { return 1; })});
    CHECK(got.full == 0);
    CHECK(got.masked > 0);
  }
}

TEST_CASE("windows, prefixes and documents by offsets trim the loops over keys") {
  operator_description op = small_operator(1, 16);
  const int n = 300;
  SECTION("a window to both sides, without causal") {
    op.n.window = {setting::fixed, 40};
    op.n.window_right = {setting::fixed, 70};
    check(op, 200, n, {n}, [](int q, int k) { return k >= q + 100 - 40 && k <= q + 100 + 70; });
  }
  SECTION("a prefix") {
    op.n.causal = causal_alignment::bottom_right;
    op.inputs = {{"prefix_lengths", tensor_role::prefix_lengths, element_type::i32, 1, {axis_name::batch}}};
    for (const int prefix : {0, 1, 130, n}) check(op, n, n, {n}, [&](int q, int k) { return k <= q || k < prefix; }, {filled<int>({1}, [&](const int *) { return prefix; })});
  }
  // Four documents, the second of which is empty; ten queries behind the last.
  const std::vector<int> queries{0, 70, 70, 200, 290};
  const auto document = [&](int q) {
    int i = 0;
    while (i + 1 < 5 && q >= queries[i + 1]) ++i;
    return i; // 4: behind the last
  };
  const auto offsets = [](const std::vector<int> &values) { return filled<int>({5}, [&](const int *at) { return values[at[0]]; }); };
  op.inputs = {{"query_offsets", tensor_role::query_offsets, element_type::i32, 1, {axis_name::offset}}};
  SECTION("documents of queries and keys") {
    const std::vector<int> keys{0, 100, 100, 130, n};
    op.inputs.push_back({"key_offsets", tensor_role::key_offsets, element_type::i32, 1, {axis_name::offset}});
    const auto in_document = [&](int q, int k) { return document(q) < 4 && k >= keys[document(q)] && k < keys[document(q) + 1]; };
    check(op, n, n, {n}, in_document, {offsets(queries), offsets(keys)});
    op.n.causal = causal_alignment::bottom_right;
    check(op, n, n, {n}, [&](int q, int k) { return in_document(q, k) && k <= keys[document(q) + 1] - (queries[document(q) + 1] - q); }, {offsets(queries), offsets(keys)});
  }
  SECTION("documents of the same tokens, causal") {
    op.n.same_extents = true;
    op.n.causal = causal_alignment::diagonal;
    const auto in_document = [&](int q, int k) { return document(q) < 4 && document(q) == document(k) && k <= q; };
    SECTION("a window") {
      op.n.window = {setting::fixed, 20};
      check(op, n, n, {n}, [&](int q, int k) { return in_document(q, k) && q - k <= 20; }, {offsets(queries)});
    }
    SECTION("a function") {
      op.mask_functions.push_back([](const position_expr &at, const input_reader &) { return at.key / 64 == 2 || at.position - at.key < 40; });
      check(op, n, n, {n}, [&](int q, int k) { return in_document(q, k) && (k / 64 == 2 || q - k < 40); }, {offsets(queries)});
    }
  }
}

TEST_CASE("each strip of a tile is trimmed for itself") {
  operator_description op = small_operator(1, 16);
  SECTION("causal and a window") {
    op.n.causal = causal_alignment::bottom_right;
    const auto causal = [](int q, int k) { return k <= q + 100; };
    check_at(with_strips(op), op, 96, 196, {196}, causal);
    op.n.window = {setting::fixed, 60};
    check_at(with_strips(op), op, 96, 196, {196}, [&](int q, int k) { return causal(q, k) && q + 100 - k <= 60; });
  }
  SECTION("a mask function") {
    op.mask_functions.push_back([](const position_expr &at, const input_reader &) { return at.query / 8 == at.key / 8; });
    check_at(with_strips(op), op, 144, 144, {144}, [](int q, int k) { return q / 8 == k / 8; });
  }
}

TEST_CASE("decoding reads the blocks of keys that its mask leaves, and no other") {
  operator_description op = small_operator(4, 16);
  op.n.kv_heads = 1;
  SECTION("no mask") {
    for (const int keys : {1, 15, 16, 17, 300, 1100}) check_decode(op, 2, keys, keys, [](int, int) { return true; });
  }
  SECTION("a window") {
    op.n.causal = causal_alignment::bottom_right;
    op.n.window = {setting::fixed, 100};
    check_decode(op, 3, 1000, 1000, [](int q, int k) { return k <= q + 997 && q + 997 - k <= 100; });
    check_decode(op, 3, 1100, 1100, [](int q, int k) { return k <= q + 1097 && q + 1097 - k <= 100; });
  }
  SECTION("a length") {
    op.n.key_lengths = true;
    for (const int length : {0, 1, 128, 200}) check_decode(op, 1, 400, length, [](int, int) { return true; });
  }
  SECTION("documents and a boolean mask per head: what any head of the group sees") {
    op.inputs = {{"document", tensor_role::input, element_type::i32, 1, {axis_name::key}},
                 {"boolean_mask", tensor_role::boolean_mask, element_type::boolean, 3, {axis_name::head, axis_name::query, axis_name::key}}};
    op.mask_functions.push_back([](const position_expr &at, const input_reader &read) { return read(0, {at.key}) == 3; });
    const tensors inputs{filled<int>({600}, [](const int *at) { return at[0] / 100; }), filled<std::uint8_t>({600, 2, 4}, [](const int *at) { return at[0] / 50 == 2 * at[2] || at[0] < 10; })};
    check_decode(op, 2, 600, 600, [](int, int k) { return k / 100 == 3 && k / 50 == 6; }, inputs);
  }
  SECTION("a mask function: what any head of the group sees") {
    op.mask_functions.push_back([](const position_expr &at, const input_reader &) { return at.key / 50 == 2 * at.head; });
    check_decode(op, 2, 600, 600, [](int, int k) { return k / 50 % 2 == 0 && k < 400; });
  }
}

// Families as data: every default is legal, and each rule that a point can break says so in words.
#include "catch2/catch.hpp"
#include "schedules/build.hpp"
#include "schedules/family.hpp"
#include "schedules/pinned_schedule.hpp"
#include "small_operator.hpp"
#include <algorithm>

using namespace attune;
using Catch::Matchers::Contains;

namespace {
schedule_point with(schedule_point p, const std::string &name, int value) {
  for (auto &[key, old] : p.parameters)
    if (key == name) old = value;
  return p;
}
constexpr length_bucket any_length = length_bucket::prefill_long;
} // namespace

TEST_CASE("every default point is legal, and so is what is chosen") {
  for (const int head_dim : {1, 3, 16, 64, 128, 256})
    for (const bool causal : {false, true})
      for (const bool function : {false, true}) {
        operator_description op = small_operator(4, head_dim);
        if (causal) op.n.causal = causal_alignment::bottom_right;
        if (function) op.mask_functions.push_back([](const position_expr &at, const input_reader &) { return at.key > at.query; });
        for (const target_info &target : all_targets) {
          if (!why_not(op, target).empty()) continue;
          for (const length_bucket bucket : buckets_of(op.n)) {
            const schedule_point p = choose_schedule(op, target, bucket);
            INFO(target.name << " " << name_of(bucket) << " head_dim " << head_dim << " " << p.text());
            CHECK(broken_rule(op, target, bucket, p) == "");
            for (const schedule_family *f : schedule_families())
              if (f->why_not(op, target, bucket).empty()) CHECK(broken_rule(op, target, bucket, f->default_point(op, target)) == "");
          }
        }
      }
}

TEST_CASE("an illegal point is refused with the two numbers") {
  const operator_description op = small_operator(4, 64);
  const target_info &avx2 = *find_target("avx2");
  const schedule_point p = find_family("chunk").default_point(op, avx2);
  CHECK_THAT(broken_rule(op, avx2, any_length, with(p, "query_tile", 25)), Contains("must divide query_tile (25)"));
  CHECK_THAT(broken_rule(op, avx2, any_length, with(p, "value_unroll", 3)), Contains("value_unroll (3) must divide dot_keys"));
  CHECK_THAT(broken_rule(op, avx2, any_length, with(p, "key_chunk", 250)), Contains("must divide key_chunk (250)"));
  CHECK_THAT(broken_rule(op, avx2, any_length, with(with(p, "dot_keys", 8), "key_block", 8)), Contains("24 accumulators"));
  CHECK_THAT(broken_rule(op, avx2, any_length, with(p, "key_chunk", 96)), Contains("8196 KiB of scratch for 131072 keys")); // 1366 chunks of 24 x 64 floats
  CHECK_THAT(broken_rule(op, *find_target("opencl"), any_length, p), Contains("chunk is for CPUs"));
}

TEST_CASE("chunks that no scratch holds are refused, not left to Halide") {
  operator_description op = small_operator(4, 64);
  op.n.element = element_type::bf16;
  const target_info &amx = *find_target("avx512_amx");
  for (const char *family : {"chunk", "running", "tiles", "decode"}) {
    const length_bucket bucket = family == std::string("decode") ? length_bucket::decode_long : any_length;
    const schedule_point p = find_family(family).default_point(op, amx);
    for (const int keys : {65'536 + 64, 1'000'000'000, 2'147'483'584}) // the last one and a step more are beyond an int
      CHECK_THAT(broken_rule(op, amx, bucket, with(p, "key_chunk", keys)), Contains("key_chunk (" + std::to_string(keys) + ") must be at most 65536"));
  }
  const schedule_point running = find_family("running").default_point(op, amx);
  CHECK(broken_rule(op, amx, any_length, with(with(running, "query_tile", 64), "key_chunk", 32'768)) == "");
  CHECK_THAT(broken_rule(op, amx, any_length, with(with(running, "query_tile", 64), "key_chunk", 65'536)), Contains("scores of 64 queries and 65536 keys at a time would take 16384 KiB"));
  CHECK_THAT(broken_rule(op, amx, length_bucket::prefill_short, with(find_family("row_tile").default_point(op, amx), "query_tile", 32'768)), Contains("scores of 32768 queries and 512 keys"));
  const schedule_point tiles = find_family("tiles").default_point(op, amx);
  CHECK_THAT(broken_rule(op, amx, any_length, with(with(with(tiles, "query_tile", 64), "query_vectors", 4), "key_chunk", 65'536)), Contains("scores of 64 queries and 65536 keys"));
  operator_description latent = small_operator(128, 64);
  latent.n.kv_heads = 1;
  CHECK_THAT(broken_rule(latent, amx, length_bucket::decode_long, with(find_family("decode").default_point(latent, amx), "key_chunk", 32'768)), Contains("scores of 128 queries and 32768 keys"));
}

TEST_CASE("an illegal point of decode is refused with the two numbers") {
  operator_description op = small_operator(8, 64);
  op.n.kv_heads = 2;
  const target_info &avx2 = *find_target("avx2");
  constexpr length_bucket decode = length_bucket::decode_long;
  const schedule_point p = find_family("decode").default_point(op, avx2);
  CHECK_THAT(broken_rule(op, avx2, decode, with(p, "key_chunk", 1000)), Contains("must divide key_chunk (1000)"));
  CHECK_THAT(broken_rule(op, avx2, decode, with(p, "key_block", 4)), Contains("the lanes of a vector (8) must divide key_block (4)"));
  CHECK_THAT(broken_rule(op, avx2, decode, with(p, "dot_unroll", 3)), Contains("dot_unroll (3) must divide the lanes of a vector / key_streams (2)"));
  CHECK_THAT(broken_rule(op, avx2, decode, with(p, "key_streams", 3)), Contains("key_streams (3) must divide the lanes of a vector (8)"));
  CHECK_THAT(broken_rule(op, avx2, decode, with(p, "value_heads", 8)), Contains("value_heads (8) must divide the heads that share a key head (4)"));
  CHECK_THAT(broken_rule(op, avx2, decode, with(p, "value_unroll", 0)), Contains("value_unroll (0) must be at least 1"));
  CHECK_THAT(broken_rule(op, avx2, decode, with(with(p, "value_heads", 4), "value_vectors", 8)), Contains("32 accumulators"));
  CHECK_THAT(broken_rule(op, avx2, decode, with(with(p, "dot_unroll", 1), "value_unroll", 4)), Contains("value_unroll (4) must divide the lanes of a vector / key_streams (2)"));
  operator_description masked = op;
  masked.mask_functions.push_back([](const position_expr &at, const input_reader &) { return at.key % 2 == 0; });
  CHECK_THAT(broken_rule(masked, avx2, decode, with(p, "key_streams", 4)), Contains("key_streams must be 1 where masks are tensors, tables or functions"));
  operator_description scaled = op;
  scaled.n.cache.scale = kv_scaling::per_token;
  CHECK_THAT(broken_rule(scaled, avx2, decode, with(p, "key_streams", 4)), Contains("key_streams must be 1 where scores read a tensor by key"));
  op.n.element = element_type::bf16;
  CHECK_THAT(broken_rule(op, *find_target("avx512_bf16"), decode, with(p, "key_streams", 16)), Contains("two keys of a pair (2) must divide the lanes of a vector / key_streams (1)"));
  op.n.cache.page_size = 16;
  CHECK_THAT(broken_rule(op, avx2, decode, with(p, "key_streams", 4)), Contains("key_streams must be 1 where keys come in pages"));
  CHECK_THAT(broken_rule(op, avx2, decode, with(with(p, "key_streams", 1), "value_unroll", 8)), Contains("value_unroll (8) must divide the keys of a page that are asked for together (4)"));
}

TEST_CASE("decode is for few queries of other tokens than the keys") {
  operator_description op = small_operator(4, 64);
  const target_info &avx2 = *find_target("avx2");
  const schedule_family &decode = find_family("decode");
  for (const length_bucket bucket : {length_bucket::decode_short, length_bucket::decode_long}) CHECK(decode.why_not(op, avx2, bucket) == "");
  for (const length_bucket bucket : {length_bucket::prefill_short, length_bucket::prefill_long}) CHECK_THAT(decode.why_not(op, avx2, bucket), Contains("few queries"));
  op.n.same_extents = true;
  CHECK_THAT(decode.why_not(op, avx2, length_bucket::decode_long), Contains("come from the same tokens"));
}

TEST_CASE("GPUs refuse in one sentence what needs whole rows of scores, and carry caches") {
  for (const char *name : {"cuda_sm80", "opencl"}) {
    const target_info &device = *find_target(name);
    const auto answer = [&](auto change) {
      operator_description op = small_operator(4, 64);
      CHECK(why_not(op, device) == "");
      change(op.n);
      CHECK(why_not(op, *find_target("avx2")) == "");
      return why_not(op, device);
    };
    CHECK(answer([](numbers &n) { n.returns_weights = true; }) == std::string("attention weights are not returned on ") + name + ": the kernel never holds a whole row of them");
    CHECK(answer([](numbers &n) { n.returns_scaled_scores = true; }) == std::string("scores are not returned on ") + name + ": the kernel never holds a whole row of them");
    CHECK(answer([](numbers &n) { n.cache = {true, element_type::e4m3, kv_scaling::off, 0}; }) == "");
    CHECK(answer([](numbers &n) { n.cache.page_size = 16, n.key_lengths = true; }) == "");
    CHECK(answer([](numbers &n) { n.causal = causal_alignment::at_length, n.key_lengths = true; }) == "");
  }
}

TEST_CASE("row_tile is for short calls") {
  const operator_description op = small_operator(4, 64);
  const target_info &avx2 = *find_target("avx2");
  CHECK(find_family("row_tile").why_not(op, avx2, length_bucket::prefill_short) == "");
  CHECK_THAT(find_family("row_tile").why_not(op, avx2, length_bucket::prefill_long), Contains("at most 512 keys"));
}

TEST_CASE("what multiplies pairs of bf16 takes keys by twos") {
  operator_description op = small_operator(4, 64);
  op.n.element = element_type::bf16;
  const target_info &pairs = *find_target("avx512_bf16"), &f32 = *find_target("avx512");
  const schedule_point p = with(find_family("chunk").default_point(op, pairs), "value_unroll", 1);
  CHECK_THAT(broken_rule(op, pairs, any_length, p), Contains("a pair of bf16 (2) must divide value_unroll (1)"));
  CHECK(broken_rule(op, f32, any_length, p) == "");
  op.n.masked_values = masked_value_policy::anything; // takes keys one by one
  CHECK(broken_rule(op, pairs, any_length, p) == "");
}

TEST_CASE("tiles take bf16 in whole tiles, on targets that have them") {
  const schedule_family &tiles = find_family("tiles");
  const target_info &amx = *find_target("avx512_amx");
  operator_description op = small_operator(4, 64);
  CHECK_THAT(tiles.why_not(op, amx, any_length), Contains("operands and caches of bf16"));
  op.n.element = element_type::bf16;
  CHECK(tiles.why_not(op, amx, any_length) == "");
  CHECK_THAT(tiles.why_not(op, *find_target("avx512_bf16"), any_length), Contains("targets that multiply tiles"));
  CHECK(choose_schedule(op, amx, any_length).family == "tiles");
  const schedule_point p = tiles.default_point(op, amx);
  CHECK_THAT(broken_rule(op, amx, any_length, with(p, "dot_keys", 8)), Contains("a tile's rows (16) must divide dot_keys (8)"));
  CHECK_THAT(broken_rule(op, amx, any_length, with(with(p, "dot_keys", 16), "key_block", 16)), Contains("a step of the weighted sum (32) must divide key_block (16)"));
  for (const int dim : {16, 64, 128, 256, 512}) {
    op.n.value_dim = dim;
    CHECK(broken_rule(op, amx, any_length, tiles.default_point(op, amx)) == "");
  }
  CHECK_THAT(broken_rule(op, amx, any_length, p), Contains("33824 KiB of scratch")); // the default for 64 features, with 512
  op.n.head_dim = 48, op.n.value_dim = 64;
  CHECK_THAT(tiles.why_not(op, amx, any_length), Contains("here they are 48 and 64"));
  CHECK(choose_schedule(op, amx, any_length).family == "chunk");
}

TEST_CASE("a schedule that is written down names each of its parameters once") {
  const operator_description op = small_operator(4, 64);
  const target_info &target = info_of(target_id::avx2);
  CHECK(pinned_schedule("prefill_long=chunk query_tile=48 key_chunk=256", op, target).second.at("key_chunk") == 256);
  CHECK_THROWS_WITH(pinned_schedule("prefill_long=chunk query_tile=48 query_tile=48", op, target), "\"query_tile=48\": the schedule gives query_tile twice; leave one of them");
}

TEST_CASE("a family that does not exist is refused with the names that do") {
  CHECK_THROWS_WITH(find_family("flash"), Contains("tiles, chunk, row_tile, running, gpu_running"));
}

TEST_CASE("parameters are data: every value of every default is among those worth trying, or is fixed by the spec") {
  const element_type element = GENERATE(element_type::f32, element_type::bf16);
  operator_description op = small_operator(4, 64);
  op.n.element = element;
  for (const schedule_family *family : schedule_families())
    for (const target_info &target : all_targets) {
      const length_buckets buckets = buckets_of(op.n);
      if (std::none_of(buckets.begin(), buckets.end(), [&](length_bucket b) { return family->why_not(op, target, b).empty(); })) continue;
      const schedule_point p = family->default_point(op, target);
      for (const schedule_parameter &parameter : family->parameters(op, target)) {
        INFO(family->name() << " on " << target.name << ": " << parameter.name << " = " << p.at(parameter.name));
        CHECK(!parameter.meaning.empty());
        CHECK(std::count(parameter.values.begin(), parameter.values.end(), p.at(parameter.name)) == 1);
      }
    }
}

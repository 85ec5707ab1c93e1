// Records of small specs, for tests of the tables.
#pragma once
#include "schedules/family.hpp"
#include "schedules/schedule_tables.hpp"
#include "tests/codegen/small_operator.hpp"

inline const attune::target_info &avx2 = *attune::find_target("avx2");

inline attune::schedule_point with(attune::schedule_point p, const std::string &name, int value) {
  for (auto &[key, old] : p.parameters)
    if (key == name) old = value;
  return p;
}

/// The default of the family chunk, with another query_tile, so that it can be told apart, and a chunk that is long enough for
/// the rule on scratch.
inline attune::schedule_point chunk_point(const attune::operator_description &op, int query_tile) {
  return with(with(attune::find_family("chunk").default_point(op, avx2), "query_tile", query_tile), "key_chunk", 1024);
}

/// A record of `op` for long prefills that is `ratio` times as fast as the default.
inline attune::table_record record_of(const attune::operator_description &op, const attune::schedule_point &point, double ratio) {
  attune::table_record r;
  r.spec = op.name, r.hash = spec_hash(op), r.bucket = attune::length_bucket::prefill_long, r.shape = attune::shape_of(op);
  r.queries = r.keys = 1024, r.schedule = point;
  r.median = 0.5, r.mad = 0.001953125, r.samples = 15, r.default_median = 0.5 * ratio, r.peak = 118.25;
  r.attune_version = "0.1.0", r.halide_version = "21.0.0", r.llvm_version = "21.1", r.date = "2030-01-31";
  return r;
}

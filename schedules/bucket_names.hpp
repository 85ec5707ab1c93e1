// Buckets of lengths as people and files write them.
#pragma once
#include "dsl/call_lengths.hpp"
#include <stdexcept>
#include <string>

namespace attune {

/// Throws std::invalid_argument with the names that there are.
inline length_bucket bucket_named(const std::string &name) {
  if (const auto bucket = find_length_bucket(name)) return *bucket;
  std::string known;
  for (int b = 0; b < length_bucket_count; ++b) known += (b ? ", " : "") + std::string(name_of(static_cast<length_bucket>(b)));
  throw std::invalid_argument("there is no length bucket \"" + name + "\"; buckets are " + known);
}

} // namespace attune

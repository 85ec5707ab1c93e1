// What a checked call's keys and values hold beside numbers: scales, pages, and poison past a batch's length. No Halide.
#pragma once
#include "generated/check.hpp"

namespace attune {

/// Fills the scales of stored keys and values, so that these become about N(0,1); puts the pages of each batch in no order; and fills
/// with poison all that lies past a batch's key length: NaN (int8: 127), scales NaN, pages that do not exist.
void fill_cache(check_call &, const numbers &, std::uint64_t seed);

} // namespace attune

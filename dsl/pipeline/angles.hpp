// Sine and cosine of position x frequency, as positional embeddings need them: as exact at position 100,000 as at 0. No libm.
#pragma once
#include "Halide.h"

namespace attune {

struct sine_cosine {
  Halide::Expr sine, cosine;
};

/// theta^(-2 i / count) for i in [0, count / 2), in turns (of 2 pi) per position, as fractions of 2^64; whole turns are dropped.
Halide::Buffer<std::uint64_t> turn_fractions(double theta, int count);

/// Of `position` (i32, any) times a frequency of turn_fractions, f32. Their product wraps at 2^64, which is a whole turn, so that
/// nothing is lost to large angles: the fraction is off by at most |position| x 2^-65 turns, and the result by less than 1.3e-7
/// (rounding of f32 included) at every position of an i32.
sine_cosine sine_cosine_of(const Halide::Expr &position, const Halide::Expr &turn_fraction);

} // namespace attune

// The softmax stage in pieces: 2^x, and what a row's running maximum and sum mean at the end. Scores are in base 2.
//
// Masked scores hold `masked_score` exactly, and 2^(masked_score - m) is exactly 0 for every real maximum m. Whether a row
// is empty is decided by the mask: its maximum then never rises above `masked_score`, and no NaN entered its sum.
#pragma once
#include "dsl/pipeline/element.hpp"
#include "dsl/pipeline/elementary.hpp"

namespace attune {

inline constexpr float masked_score = -1e30f;  ///< what a masked score holds; real scores stay above -9e29
inline constexpr float no_score = -9.5e29f;      ///< what a maximum starts from: above masked_score, so that a masked weight is 0 in every row
inline constexpr float empty_threshold = -9.2e29f;

/// 2^x is exactly 0 below this. A smaller weight is nothing beside the 1 of the row's maximum, and near 2^-126 its products with values are
/// subnormal numbers, which some CPUs compute far slower (docs/benchmarks.md): a bias that falls steeply with distance meets them in every
/// row. Above 2^-116 values down to 2^-10 give none, and all weights above e^-80 are there.
inline constexpr float least_exponent = -116.0f;

namespace detail {
/// 2^x = 2^n p(f) with n the integer next to x and f = x - n; exactly 0 below least_exponent. Adding 1.5 * 2^23 + 127 leaves n + 127 in
/// the low bits of a float, which shifted are 2^n. A product, so that every NaN stays one, whatever its payload.
template <class Polynomial> Halide::Expr exp2_by(Halide::Expr x, Polynomial p) {
  using namespace Halide;
  constexpr float shift = 12582912.0f + 127.0f;
  const Expr bounded = select(strict_float(x < least_exponent), -127.0f, x); // 2^-127 comes out as 0; strict: keeps a NaN
  const Expr shifted = strict_float(bounded + shift);
  const Expr f = strict_float(bounded - (shifted - shift));
  return p(f) * reinterpret<float>(reinterpret<int>(shifted) << 23);
}
} // namespace detail

/// 2^x for x <= 0, relative error 1.9e-7 (checked on 100,001 points of [-0.5, 0.5]); exactly 0 below least_exponent; NaN stays NaN.
inline Halide::Expr exp2_nonpositive(Halide::Expr x) { return detail::exp2_by(std::move(x), detail::exp2_of_fraction); }

/// What cutting an f32 to bf16 by dropping 16 bits loses on (logarithmic) average over a mantissa's values, as a factor against it.
inline constexpr float mean_cut = 1.00282f;

/// The same for weights that will be cut to bf16: a fit of degree 2, times mean_cut, so that totals of what was cut are not too small.
/// Its relative error, 1.7e-3, is below half of what the cut may lose (2^-8). Degree 3 (1.0e-4) leaves outputs as far from the reference
/// (12 heads of 64, 1,024 tokens: 6.2e-4 against 6.5e-4) and is slower by 1 %: .804 / .817 / .826 of the peak where this has .810 / .824 / .834
/// (512 / 1,024 / 2,048 tokens, one Zen 4 core, best of interleaved runs).
inline Halide::Expr exp2_nonpositive_before_cut(Halide::Expr x) {
  return detail::exp2_by(std::move(x), [](const Halide::Expr &f) {
    return (2.3910131e-1f * f + 7.0543173e-1f) * f + 1.0032644f;
  });
}

/// The same without any strict_float, one of which makes every horizontal sum of a module a serial chain: n by floor, and a NaN
/// kept by its bits. For pipelines where 2^x is not what takes time.
inline Halide::Expr exp2_nonpositive_fast_math(Halide::Expr x) {
  using namespace Halide;
  const Expr bounded = select(x < least_exponent, -127.0f, x), n = floor(bounded + 0.5f);
  return keep_nan(x, detail::exp2_of_fraction(bounded - n) * detail::power_of_2(cast<int>(n)));
}

/// 1 / (1 + 2^-x) by one of the exponentials above; exactly 0 below least_exponent, as masked scores are; NaN stays NaN.
template <class Exp2> Halide::Expr sigmoid_by(Exp2 exp2, const Halide::Expr &x) {
  using namespace Halide;
  const Expr e = exp2(reinterpret<float>(reinterpret<std::uint32_t>(x) | detail::u32(0x80000000))); // 2^-|x|
  return select(x >= 0.0f, 1.0f, e) / (1.0f + e);
}

/// A score where allowed, `masked_score` where not, whatever the score's bits. By integer arithmetic: a select would let
/// bounds inference shrink the score's tile by the condition.
inline Halide::Expr masked(Halide::Expr score, Halide::Expr allowed) {
  using namespace Halide;
  const Expr keep = select(allowed, detail::u32(0xffffffff), detail::u32(0));
  const Expr otherwise = select(allowed, detail::u32(0), reinterpret<std::uint32_t>(Expr(masked_score)));
  return reinterpret<float>((reinterpret<std::uint32_t>(score) & keep) | otherwise);
}

/// `value` where its weight is not 0, and 0 elsewhere: 0 x NaN must not reach a row that masks the key.
inline Halide::Expr only_where_weighted(Halide::Expr value, Halide::Expr weight) {
  using namespace Halide;
  const Expr keep = select(reinterpret<int>(weight) != 0, detail::u32(0xffffffff), detail::u32(0));
  return reinterpret<float>(reinterpret<std::uint32_t>(value) & keep);
}

inline Halide::Expr is_nan_bits(Halide::Expr x) {
  return (Halide::reinterpret<std::uint32_t>(x) & detail::u32(0x7fffffff)) > detail::u32(0x7f800000);
}

/// Whether a row with this maximum (base 2) and this sum has no allowed key.
inline Halide::Expr is_empty_row(Halide::Expr maximum, Halide::Expr sum) { return maximum < empty_threshold && !is_nan_bits(sum); }

/// 1 / sum; 0 for an empty row, and for no other: a sum is at least 1 where the row's maximum has its key, and always finite.
inline Halide::Expr inverse_or_zero(Halide::Expr maximum, Halide::Expr sum) { return Halide::select(is_empty_row(maximum, sum), 0.0f, 1.0f / sum); }

/// Natural log of the sum of exp(score): (maximum + log2(sum)) ln 2; -inf for an empty row.
inline Halide::Expr log_sum_exp(Halide::Expr maximum, Halide::Expr sum) {
  using namespace Halide;
  const Expr finite = maximum * 0.693147180559945309f + log(sum);
  const Expr with_nan = select(is_nan_bits(sum), sum, finite);
  return select(is_empty_row(maximum, sum), reinterpret<float>(detail::u32(0xff800000)), with_nan);
}

} // namespace attune

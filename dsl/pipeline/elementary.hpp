// exp and tanh of f32 as arithmetic: no call to libm on any target, vectors stay vectors, and a NaN comes out as a NaN.
#pragma once
#include "Halide.h"
#include <cstdint>

namespace attune {

/// `value`, or x itself where x is a NaN. By bits: generated code is compiled with fast-math, which believes that nothing is NaN.
inline Halide::Expr keep_nan(Halide::Expr x, Halide::Expr value) {
  const Halide::Expr magnitude = Halide::reinterpret<int>(x) & 0x7fffffff;
  return Halide::select(magnitude > 0x7f800000, x, value);
}

namespace detail {
/// 2^f = 1 + f q(f) on [-0.5, 0.5], q of degree 4: a minimax fit of the relative error (Lawson's iteration on 4,001 Chebyshev
/// points), rounded to f32; its own error is 1.1e-7.
inline Halide::Expr exp2_of_fraction(const Halide::Expr &f) {
  const Halide::Expr q = (((1.326472731307149e-3f * f + 9.671512991189957e-3f) * f + 5.550733581185341e-2f) * f + 2.4022242426872253e-1f) * f + 6.931470036506653e-1f;
  return q * f + 1.0f;
}

/// 2^n for n from -127, where it is 0, to 127.
inline Halide::Expr power_of_2(const Halide::Expr &n) { return Halide::reinterpret<float>((n + 127) << 23); }
} // namespace detail

/// e^x, f32. Halide's polynomial within the range of f32: 0 below -87.3 and infinity above 88.7, as f32 rounds without subnormals.
inline Halide::Expr exp_expr(Halide::Expr x) {
  const Halide::Expr inside = Halide::clamp(x, -88.0f, 89.0f);
  return keep_nan(x, Halide::exp(inside));
}

/// tanh x, f32, within 1.5 ulp everywhere, also next to 0. Polynomials are minimax fits of the relative error by Lawson's iteration
/// (weighted least squares in double precision), rounded to f32.
/// |x| < 7/8: x + x^3 P(x^2), P of degree 5, own error 1.8e-8, three tenths of half an ulp. A NaN goes this way too, and comes out of its
/// products and sums: nothing here compares it.
/// Beyond: 1 - 2 / (e^(2|x|) + 1), where subtracting loses no digits. e^(2|x|) = 2^n e^(2y) with |y| <= ln 2 / 4, of degree 6, own error
/// 1.7e-8. From |x| = 9.02 on, tanh rounds to 1.
inline Halide::Expr tanh_expr(Halide::Expr x) {
  using namespace Halide;
  const Expr u = x * x;
  Expr p = 0.0013709893682971597f;
  for (const float c : {-0.007003250066190958f, 0.021017104387283325f, -0.05376160144805908f, 0.1333097517490387f, -0.3333324193954468f}) p = p * u + c;
  const Expr near_zero = x + x * u * p;

  const Expr bits = reinterpret<std::uint32_t>(x), magnitude = bits & Expr(0x7fffffffu), sign = bits & Expr(0x80000000u);
  const Expr bounded = min(reinterpret<float>(magnitude), 10.0f), n = cast<int>(bounded * 2.8853900817779268f + 0.5f); // 2 / ln 2; not negative: floor
  const Expr y = bounded - cast<float>(n) * 0.34657359027997264f;
  Expr e = 0.08859938383102417f;
  for (const float c : {0.2679729759693146f, 0.6666880249977112f, 1.3333145380020142f, 1.999999761581421f, 2.0f, 1.0f}) e = e * y + c;
  const Expr far = 1.0f - 2.0f / (e * detail::power_of_2(n) + 1.0f);

  const Expr bits_of_7_eighths(0x3f600000u), bits_of_infinity(0x7f800000u);
  const Expr is_far = magnitude - bits_of_7_eighths <= bits_of_infinity - bits_of_7_eighths; // unsigned: what is below 7/8 comes out above
  return select(is_far, reinterpret<float>(reinterpret<std::uint32_t>(far) | sign), near_zero); // the sign as bits: to Halide -0.0f is 0.0f
}

/// tanh x for softcap, which multiplies it by the cap: f32, relative error 3.1e-7 (4 ulp), never beyond -1 and 1. x P(x^2) / Q(x^2) with P
/// and Q of degree 4, the pair with the least relative error on [0, 9], found by Lawson's iteration (weighted least squares in double
/// precision, linearised in Q), rounded to f32; its own error is 2.1e-8. All coefficients are positive, so no digits cancel; beyond 9, as
/// at 9, where tanh rounds to 1. One division and no exponential: it stands between the two products of attention.
inline Halide::Expr softcap_tanh_expr(Halide::Expr x) {
  using Halide::Expr;
  const Expr inside = Halide::clamp(x, -9.0f, 9.0f), u = inside * inside;
  const Expr p = (((1.3354646277718984e-8f * u + 2.0609066906640798e-5f) * u + 3.495587268844247e-3f) * u + 0.13381025195121765f) * u + 1.0f;
  const Expr q = (((7.776551456117886e-7f * u + 3.285633574705571e-4f) * u + 2.5876978412270546e-2f) * u + 0.4671434164047241f) * u + 1.0f;
  return keep_nan(x, Halide::clamp(inside * p / q, -1.0f, 1.0f));
}

} // namespace attune

// exp and tanh of f32 as arithmetic: no call to libm on any target, vectors stay vectors, and a NaN comes out as a NaN.
#pragma once
#include "Halide.h"

namespace attune {

/// `value`, or x itself where x is a NaN. By bits: generated code is compiled with fast-math, which believes that nothing is NaN.
inline Halide::Expr keep_nan(Halide::Expr x, Halide::Expr value) {
  const Halide::Expr magnitude = Halide::reinterpret<int>(x) & 0x7fffffff;
  return Halide::select(magnitude > 0x7f800000, x, value);
}

/// e^x, f32. Halide's polynomial within the range of f32: 0 below -87.3 and infinity above 88.7, as f32 rounds without subnormals.
inline Halide::Expr exp_expr(Halide::Expr x) {
  const Halide::Expr inside = Halide::clamp(x, -88.0f, 89.0f);
  return keep_nan(x, Halide::exp(inside));
}

/// tanh x, f32, within 1.5 ulp everywhere, also next to 0.
/// |x| < 5/8: x + x^3 P(x^2). P is the polynomial of degree 4 with the least relative error of tanh on [0, 5/8], found by Lawson's
/// iteration (weighted least squares in double precision); its own error is 4.4e-9, a fourteenth of half an ulp.
/// Beyond: 1 - 2 / (e^(2|x|) + 1), where subtracting loses no digits. From |x| = 9.02 on, tanh rounds to 1.
inline Halide::Expr tanh_expr(Halide::Expr x) {
  using Halide::Expr;
  const Expr u = x * x;
  Expr p = -0.005704967631155508f;
  for (const float c : {0.02063906816862674f, -0.053739708524201055f, 0.13331442107258257f, -0.3333328193792327f}) p = p * u + c;
  const Expr near_zero = x + x * u * p;
  const Expr magnitude = Halide::abs(x);
  const Expr e = Halide::exp(2.0f * Halide::min(magnitude, 10.0f));
  const Expr far = 1.0f - 2.0f / (e + 1.0f);
  const Expr signed_far = Halide::select(x < 0.0f, -far, far);
  return keep_nan(x, Halide::select(magnitude < 0.625f, near_zero, signed_far));
}

/// tanh x for softcap, which multiplies it by the cap: f32, relative error 3.1e-7 (4 ulp), never beyond -1 and 1. x P(x^2) / Q(x^2) with P
/// and Q of degree 4, the pair with the least relative error on [0, 9], found by Lawson's iteration (weighted least squares in double
/// precision, linearised in Q), rounded to f32; its own error is 2.1e-8. All coefficients are positive, so no digits cancel; beyond 9, as
/// at 9, where tanh rounds to 1. One division and no exponential: it stands between the two products of attention, and costs a third
/// of tanh_expr there.
inline Halide::Expr softcap_tanh_expr(Halide::Expr x) {
  using Halide::Expr;
  const Expr inside = Halide::clamp(x, -9.0f, 9.0f), u = inside * inside;
  const Expr p = (((1.3354646277718984e-8f * u + 2.0609066906640798e-5f) * u + 3.495587268844247e-3f) * u + 0.13381025195121765f) * u + 1.0f;
  const Expr q = (((7.776551456117886e-7f * u + 3.285633574705571e-4f) * u + 2.5876978412270546e-2f) * u + 0.4671434164047241f) * u + 1.0f;
  return keep_nan(x, Halide::clamp(inside * p / q, -1.0f, 1.0f));
}

} // namespace attune

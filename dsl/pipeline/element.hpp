// Stored elements and f32, by integer arithmetic: the same bits on every target, and no help needed from Halide, whose own
// f16 and bf16 emulation warns (a warning fails our build). f16 and bf16 travel as UInt(16), booleans and 8-bit floats as UInt(8).
#pragma once
#include "Halide.h"
#include "dsl/vocabulary.hpp"

namespace attune {

inline Halide::Type stored_type(element_type e) {
  switch (e) {
    case element_type::f32: return Halide::Float(32);
    case element_type::f16: case element_type::bf16: return Halide::UInt(16);
    case element_type::boolean: case element_type::e4m3: case element_type::e5m2: return Halide::UInt(8);
    case element_type::int8: return Halide::Int(8);
    case element_type::i32: return Halide::Int(32);
  }
  return {};
}

namespace detail {
inline Halide::Expr u32(std::uint32_t x) { return Halide::Internal::make_const(Halide::UInt(32), x); }

/// IEEE binary16 to f32, exact: normal numbers and denormals by one scaling with 2^112, infinities and NaN by exponent.
inline Halide::Expr f16_to_f32(Halide::Expr stored) {
  using namespace Halide;
  Expr bits = cast<std::uint32_t>(stored);
  Expr shifted = (bits & u32(0x7fff)) << 13;
  Expr finite = reinterpret<std::uint32_t>(reinterpret<float>(shifted) * 5.192296858534828e33f);
  Expr magnitude = select((bits & u32(0x7c00)) == u32(0x7c00), shifted | u32(0x7f800000), finite);
  return reinterpret<float>(magnitude | ((bits & u32(0x8000)) << 16));
}

/// The same by the machine's own conversion (vcvtph2ps). 32:8 heads of 128, 8,192 keys, one Zen 4 core, by
/// integer arithmetic and so: e5m2 3.5 and 2.0 ms, e4m3 3.5 and 2.6 ms.
inline Halide::Expr f32_of_f16_bits(Halide::Expr bits) {
  return Halide::cast<float>(Halide::reinterpret(Halide::Float(16), Halide::cast<std::uint16_t>(std::move(bits))));
}

/// OFP8 e4m3 to f32, exact and without f32 denormals: 1.m 2^(e - 7), and for e = 0 the difference between 2^-6 (1 + m/8) and 2^-6.
inline Halide::Expr e4m3_to_f32(Halide::Expr stored) {
  using namespace Halide;
  Expr bits = cast<std::uint32_t>(stored), magnitude = bits & u32(0x7f), shifted = magnitude << 20;
  Expr denormal = reinterpret<std::uint32_t>(reinterpret<float>(shifted + u32(0x3c800000)) - 0.015625f);
  Expr number = select(magnitude < u32(8), denormal, shifted + u32(0x3c000000));
  return reinterpret<float>(select(magnitude == u32(0x7f), u32(0x7fc00000), number) | ((bits & u32(0x80)) << 24));
}

/// e4m3 by that conversion, exact: its bits one exponent bit further left are those of an f16 that is 2^8 times smaller, but for the NaN.
inline Halide::Expr e4m3_by_f16(Halide::Expr stored) {
  using namespace Halide;
  Expr shifted = (cast<std::int16_t>(reinterpret<std::int8_t>(stored)) << 7) & Internal::make_const(Int(16), -0x4001); // the sign stands twice
  Expr is_nan = (stored & Internal::make_const(UInt(8), 0x7f)) == Internal::make_const(UInt(8), 0x7f);
  Expr with_nan = select(is_nan, Internal::make_const(Int(16), 0x7e00), shifted);
  return f32_of_f16_bits(reinterpret<std::uint16_t>(with_nan)) * 256.0f;
}

/// f32 to IEEE binary16, to nearest even. Scaling by 2^-112 lets the f32 unit round denormals; too large gives infinity.
inline Halide::Expr f32_to_f16(Halide::Expr value) {
  using namespace Halide;
  Expr bits = reinterpret<std::uint32_t>(value);
  Expr magnitude = bits & u32(0x7fffffff);
  Expr scaled = reinterpret<std::uint32_t>(reinterpret<float>(min(magnitude, u32(0x477ff000))) * 1.925929944387236e-34f);
  Expr rounded = (scaled + u32(0xfff) + ((scaled >> 13) & u32(1))) >> 13;
  Expr finite_or_infinite = select(magnitude >= u32(0x477ff000), u32(0x7c00), rounded);
  Expr result = select(magnitude > u32(0x7f800000), u32(0x7e00), finite_or_infinite);
  return cast<std::uint16_t>(result | ((bits >> 16) & u32(0x8000)));
}

/// f32 to bfloat16, to nearest even; NaN stays NaN.
inline Halide::Expr f32_to_bf16(Halide::Expr value) {
  using namespace Halide;
  Expr bits = reinterpret<std::uint32_t>(value);
  Expr rounded = (bits + u32(0x7fff) + ((bits >> 16) & u32(1))) >> 16;
  Expr quiet_nan = (bits >> 16) | u32(0x40);
  return cast<std::uint16_t>(select((bits & u32(0x7fffffff)) > u32(0x7f800000), quiet_nan, rounded));
}
} // namespace detail

inline Halide::Expr f32_of_bf16(Halide::Expr stored) { return Halide::reinterpret<float>(Halide::cast<std::uint32_t>(std::move(stored)) << 16); }

/// A stored element as f32. Exact for every element type.
inline Halide::Expr load_f32(Halide::Expr stored, element_type e) {
  switch (e) {
    case element_type::f16: return detail::f16_to_f32(stored);
    case element_type::bf16: return f32_of_bf16(stored);
    case element_type::e4m3: return detail::e4m3_to_f32(stored);
    case element_type::e5m2: return detail::f16_to_f32(Halide::cast<std::uint16_t>(stored) << 8); // the upper half of an f16
    case element_type::boolean: case element_type::i32: case element_type::int8: return Halide::cast<float>(stored);
    case element_type::f32: break;
  }
  return stored;
}

/// The same, 8-bit floats by the conversion of f16 that the machine has.
inline Halide::Expr load_f32_by_f16(Halide::Expr stored, element_type e) {
  if (e == element_type::e4m3) return detail::e4m3_by_f16(std::move(stored));
  if (e == element_type::e5m2) return detail::f32_of_f16_bits(Halide::cast<std::uint16_t>(std::move(stored)) << 8);
  return load_f32(std::move(stored), e);
}

/// Half `half` (0: low) of 32 stored bits. Halide's own extract_bits is marked impure, which keeps the halves of a vector from
/// being stored as one.
inline Halide::Expr half_of(Halide::Expr bits, Halide::Expr half) {
  using Halide::Internal::Call;
  return Call::make(Halide::UInt(16), Call::extract_bits, {std::move(bits), 16 * std::move(half)}, Call::PureIntrinsic);
}

/// A stored bf16 as a factor of a dot product over pairs: in this form Halide finds vdpbf16ps.
inline Halide::Expr dot_factor(Halide::Expr stored) {
  return Halide::cast<float>(Halide::reinterpret(Halide::BFloat(16), std::move(stored)));
}

/// An f32 as it is stored: rounded to nearest, ties to even.
inline Halide::Expr store_as(Halide::Expr value, element_type e) {
  switch (e) {
    case element_type::f16: return detail::f32_to_f16(value);
    case element_type::bf16: return detail::f32_to_bf16(value);
    default: return value;
  }
}

} // namespace attune

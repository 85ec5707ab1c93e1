// Stored elements and f32 on a GPU. As in element.hpp, but no step makes or reads an f32 denormal, which GPUs may flush to
// zero: denormals of f16 and of 8-bit floats stay exact there too.
#pragma once
#include "dsl/pipeline/element.hpp"
#include "dsl/targets.hpp"

namespace attune {
namespace detail {

/// IEEE binary16 to f32, exact. Denormals become integer * 2^-24.
inline Halide::Expr f16_to_f32_without_denormals(Halide::Expr stored) {
  using namespace Halide;
  Expr bits = cast<std::uint32_t>(stored), magnitude = bits & u32(0x7fff);
  Expr denormal = reinterpret<std::uint32_t>(cast<float>(cast<std::int32_t>(magnitude)) * 5.9604644775390625e-8f);
  Expr rebiased = (magnitude << 13) + select(magnitude >= u32(0x7c00), u32(0x70000000), u32(0x38000000));
  return reinterpret<float>(select(magnitude < u32(0x400), denormal, rebiased) | ((bits & u32(0x8000)) << 16));
}

/// f32 to IEEE binary16, to nearest even. Adding 0.5, whose unit in the last place is 2^-24, rounds denormals.
inline Halide::Expr f32_to_f16_without_denormals(Halide::Expr value) {
  using namespace Halide;
  Expr bits = reinterpret<std::uint32_t>(value), magnitude = bits & u32(0x7fffffff);
  Expr denormal = reinterpret<std::uint32_t>(reinterpret<float>(magnitude) + 0.5f) - u32(0x3f000000);
  Expr capped = min(magnitude, u32(0x47800000));
  Expr normal = (capped - u32(0x38000000) + u32(0xfff) + ((capped >> 13) & u32(1))) >> 13;
  Expr number = select(magnitude < u32(0x38800000), denormal, normal);
  Expr result = select(magnitude > u32(0x7f800000), u32(0x7e00), number);
  return cast<std::uint16_t>(result | ((bits >> 16) & u32(0x8000)));
}

} // namespace detail

/// A stored element as f32. CUDA converts f16 in one instruction; everything else is integer arithmetic.
inline Halide::Expr gpu_load_f32(Halide::Expr stored, element_type e, device_kind device) {
  if (e == element_type::e5m2) return gpu_load_f32(Halide::cast<std::uint16_t>(stored) << 8, element_type::f16, device); // its upper half
  if (e != element_type::f16) return load_f32(stored, e);
  if (device == device_kind::cuda) return Halide::cast<float>(Halide::reinterpret(Halide::Float(16), stored));
  return detail::f16_to_f32_without_denormals(stored);
}

/// An f32 as it is stored: rounded to nearest, ties to even.
inline Halide::Expr gpu_store_as(Halide::Expr value, element_type e) {
  return e == element_type::f16 ? detail::f32_to_f16_without_denormals(value) : store_as(value, e);
}

} // namespace attune

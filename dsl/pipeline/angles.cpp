#include "dsl/pipeline/angles.hpp"
#include <cmath>

namespace attune {
using namespace Halide;

Buffer<std::uint64_t> turn_fractions(double theta, int count) {
  constexpr long double turn = 6.283185307179586476925286766559L, whole = 18446744073709551616.0L; // 2 pi, 2^64
  Buffer<std::uint64_t> fractions(count / 2);
  for (int i = 0; i < count / 2; ++i) {
    const long double turns = std::pow(static_cast<long double>(theta), -2.0L * i / count) / turn;
    fractions(i) = static_cast<std::uint64_t>((turns - std::floor(turns)) * whole);
  }
  return fractions;
}

sine_cosine sine_cosine_of(const Expr &position, const Expr &turn_fraction) {
  // The upper 32 bits of the product are the angle in turns, a signed fraction. Its nearest quarter turn is taken off; what is left
  // lies within an eighth of a turn.
  const Expr turns = cast<std::int32_t>((cast<std::uint64_t>(cast<std::int64_t>(position)) * turn_fraction) >> 32);
  const Expr quarters = cast<std::int32_t>((cast<std::uint32_t>(turns) + Internal::make_const(UInt(32), 1u << 29)) >> 30);
  const Expr rest = cast<std::int32_t>(cast<std::uint32_t>(turns) - (cast<std::uint32_t>(quarters) << 30));
  const Expr x = cast<float>(rest) * 1.4629180792671596e-9f; // 2 pi / 2^32
  const Expr u = x * x;
  // Taylor's series: the first term left out is below 3.2e-10 (sine) and 2.5e-11 (cosine) of the result for |x| <= pi / 4.
  const Expr sine = x + x * u * (-1.6666667e-1f + u * (8.3333333e-3f + u * (-1.9841270e-4f + u * 2.7557319e-6f)));
  const Expr cosine = 1.0f + u * (-0.5f + u * (4.1666667e-2f + u * (-1.3888889e-3f + u * (2.4801587e-5f + u * -2.7557319e-7f))));
  const Expr odd = (quarters & 1) != 0;
  const Expr s = select(odd, cosine, sine), c = select(odd, sine, cosine);
  return {select((quarters & 2) != 0, -s, s), select(((quarters + 1) & 2) != 0, -c, c)};
}

} // namespace attune

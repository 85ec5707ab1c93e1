// A view with fewer extents than axes.
// expect: give one extent and one stride for each axis of the view
#include "runtime/tensor.hpp"
using namespace attune::axes;

float memory[10 * 12 * 64];

#ifdef CORRECTED
attune::view<float, query<>, head<12>, head_dim<64>> v(memory, {10, 12, 64}, {768, 64, 1});
#else
attune::view<float, query<>, head<12>, head_dim<64>> v(memory, {}, {768, 64, 1});
#endif

int main() { return static_cast<int>(v.size()) & 1; }

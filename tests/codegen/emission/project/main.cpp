#include "my_kernels/causal.hpp"
#include "my_kernels/plain.hpp"
#include <cstdio>

int main() {
  std::printf("%d heads, %d targets\n", attune::artefact<my::plain>::n.heads, attune::artefact<my::causal>::info().variant_count);
}

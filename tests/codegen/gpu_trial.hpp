// One operator on the OpenCL device (PoCL), beside a plain loop in double precision. Shared by the GPU tests.
#pragma once
#include "schedules/gpu_running.hpp"
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace gpu_trial {

/// A dense tensor of doubles, axes outermost first. Values are exact in the element that they are stored as.
struct dense {
  std::vector<int> extents;
  std::vector<double> values;
  explicit dense(std::vector<int> e = {}) : extents(std::move(e)), values(count(extents)) {}
  static std::size_t count(const std::vector<int> &e) {
    std::size_t n = 1;
    for (int x : e) n *= static_cast<std::size_t>(x);
    return n;
  }
  std::size_t offset(const std::vector<int> &at) const {
    std::size_t o = 0;
    for (std::size_t a = 0; a < extents.size(); ++a) o = o * static_cast<std::size_t>(extents[a]) + static_cast<std::size_t>(at[a]);
    return o;
  }
  double &operator()(const std::vector<int> &at) { return values[offset(at)]; }
  double operator()(const std::vector<int> &at) const { return values[offset(at)]; }
};

struct arguments {
  int batches = 1, queries = 1, keys = 1;
  dense query, key, value;        ///< [batch, head, length, dim]
  std::vector<dense> inputs;      ///< in the order of the spec
  std::vector<int> key_lengths;
  double scale = 1, softcap = 0;
  int window = 0;
  bool sequence_first = false;    ///< store [batch, length, head, dim] instead
};

struct answer {
  dense output, lse; ///< [batch, head, query, value_dim], [batch, head, query]
};

/// What the operator means for one score, apart from the numbers of the spec.
struct meaning {
  std::function<double(double score, int b, int h, int q, int k)> score = [](double s, int, int, int, int) { return s; };
  std::function<bool(int b, int h, int q, int k)> allowed = [](int, int, int, int) { return true; };
};

/// Query, key and value near N(0, 1), exact in the spec's element; masks and inputs stay for the test to add.
arguments random_arguments(const attune::operator_description &, int batches, int queries, int keys, unsigned seed = 1);

answer expected(const attune::operator_description &, const arguments &, const meaning &);

/// A compiled operator on the OpenCL device; compiles on the first run.
class on_opencl {
public:
  explicit on_opencl(const attune::operator_description &);
  on_opencl(const attune::operator_description &, const attune::schedule_point &);
  answer run(const arguments &);

private:
  attune::operator_description op;
  attune::gpu_pipeline made;
};

double decode(std::uint32_t stored, attune::element_type);
std::uint32_t encode(double exact, attune::element_type);

/// Largest |a - b|; infinite if one is NaN and the other is not, or if a value of `a` was never written.
double distance(const dense &a, const dense &b);
double largest(const dense &);
/// The bound of the design for N(0, 1) inputs, times max |V|.
double bound(const attune::operator_description &, const arguments &);

/// A spec with the numbers that most tests share; the rest stays at its default.
attune::operator_description attention(int heads, int kv_heads, int head_dim, int value_dim, attune::element_type e = attune::element_type::f32);

} // namespace gpu_trial

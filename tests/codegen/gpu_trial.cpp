#include "tests/codegen/gpu_trial.hpp"
#include <bit>
#include <cstring>

namespace gpu_trial {
using namespace attune;

namespace {

const target_info &opencl() { return info_of(target_id::opencl); }

/// `from` as a Halide buffer with axes reversed; `order` lists its axes from the outermost in memory to the innermost.
Halide::Buffer<> stored(const dense &from, element_type e, const std::vector<int> &order) {
  const int rank = static_cast<int>(from.extents.size());
  std::vector<halide_dimension_t> dims(static_cast<std::size_t>(rank));
  int stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    const int axis = order[i];
    dims[rank - 1 - axis] = halide_dimension_t(0, from.extents[axis], stride);
    stride *= from.extents[axis];
  }
  const Halide::Type type = e == element_type::f32 ? Halide::Float(32) : e == element_type::i32 ? Halide::Int(32) : Halide::UInt(e == element_type::boolean ? 8 : 16);
  Halide::Runtime::Buffer<> shape(type, nullptr, rank, dims.data());
  shape.allocate();
  Halide::Buffer<> buffer(std::move(shape));
  char *to = static_cast<char *>(buffer.data());
  std::vector<int> at(from.extents.size());
  for (std::size_t i = 0; i < from.values.size(); ++i) {
    std::size_t rest = i, offset = 0;
    for (int a = rank - 1; a >= 0; --a) {
      offset += rest % static_cast<std::size_t>(from.extents[a]) * static_cast<std::size_t>(dims[rank - 1 - a].stride);
      rest /= static_cast<std::size_t>(from.extents[a]);
    }
    const std::uint32_t bits = encode(from.values[i], e);
    std::memcpy(to + offset * size_of(e), &bits, size_of(e));
  }
  buffer.set_host_dirty();
  return buffer;
}

Halide::Buffer<> stored(const dense &from, element_type e) {
  std::vector<int> order(from.extents.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  return stored(from, e, order);
}

/// The buffer's values, axes outermost first, whatever its strides.
dense loaded(Halide::Buffer<> &buffer, element_type e) {
  const int rank = buffer.dimensions();
  std::vector<int> extents;
  for (int a = rank - 1; a >= 0; --a) extents.push_back(buffer.dim(a).extent());
  dense result(extents);
  const char *data = static_cast<const char *>(buffer.data());
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    std::size_t rest = i, offset = 0;
    for (int a = 0; a < rank; ++a) {
      offset += rest % static_cast<std::size_t>(buffer.dim(a).extent()) * static_cast<std::size_t>(buffer.dim(a).stride());
      rest /= static_cast<std::size_t>(buffer.dim(a).extent());
    }
    std::uint32_t bits = 0;
    std::memcpy(&bits, data + offset * size_of(e), size_of(e));
    result.values[i] = decode(bits, e);
  }
  return result;
}

/// Nearest value with few enough significant bits for every element type, in (-4, 4).
double short_normal(std::mt19937 &random, element_type e) {
  std::normal_distribution<double> normal;
  const double unit = e == element_type::f32 ? 0x1p-20 : e == element_type::f16 ? 0x1p-8 : 0x1p-5;
  return std::nearbyint(std::fmin(3.9, std::fmax(-3.9, normal(random))) / unit) * unit;
}

} // namespace

std::uint32_t encode(double exact, element_type e) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(exact));
  switch (e) {
    case element_type::f32: return bits;
    case element_type::bf16: return bits >> 16;
    case element_type::boolean: return exact != 0;
    case element_type::i32: return static_cast<std::uint32_t>(static_cast<std::int32_t>(exact));
    default: break;
  }
  const std::uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude == 0) return sign;
  if (magnitude >= 0x7f800000) return sign | (magnitude > 0x7f800000 ? 0x7e00u : 0x7c00u);
  return sign | ((magnitude >> 13) - (112u << 10));
}

double decode(std::uint32_t stored, element_type e) {
  switch (e) {
    case element_type::f32: return std::bit_cast<float>(stored);
    case element_type::bf16: return std::bit_cast<float>(stored << 16);
    case element_type::boolean: return stored & 1;
    case element_type::i32: return static_cast<std::int32_t>(stored);
    default: break;
  }
  const int exponent = stored >> 10 & 31, mantissa = stored & 1023;
  const double sign = stored & 0x8000 ? -1 : 1;
  if (exponent == 31) return mantissa ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

operator_description attention(int heads, int kv_heads, int head_dim, int value_dim, element_type e) {
  operator_description op;
  op.name = "trial";
  op.n.element = e;
  op.n.heads = heads, op.n.kv_heads = kv_heads, op.n.head_dim = head_dim, op.n.value_dim = value_dim;
  op.n.scale = {setting::fixed, 1 / std::sqrt(head_dim)};
  return op;
}

arguments random_arguments(const operator_description &op, int batches, int queries, int keys, unsigned seed) {
  std::mt19937 random(seed);
  const numbers &n = op.n;
  arguments a;
  a.batches = batches, a.queries = queries, a.keys = keys;
  a.query = dense({batches, n.heads, queries, n.head_dim});
  a.key = dense({batches, n.kv_heads, keys, n.head_dim});
  a.value = dense({batches, n.kv_heads, keys, n.value_dim});
  for (dense *t : {&a.query, &a.key, &a.value})
    for (double &v : t->values) v = short_normal(random, n.element);
  a.scale = n.scale.value, a.softcap = n.softcap.value, a.window = static_cast<int>(n.window.value);
  return a;
}

answer expected(const operator_description &op, const arguments &a, const meaning &m) {
  const numbers &n = op.n;
  const int group = n.heads / n.kv_heads;
  const bool same_index = n.causal == causal_alignment::top_left || n.causal == causal_alignment::diagonal;
  answer r{dense({a.batches, n.heads, a.queries, n.value_dim}), dense({a.batches, n.heads, a.queries})};
  for (int b = 0; b < a.batches; ++b)
    for (int h = 0; h < n.heads; ++h)
      for (int q = 0; q < a.queries; ++q) {
        const int position = same_index ? q : q + a.keys - a.queries;
        std::vector<int> keys;
        std::vector<double> weights;
        double most = -std::numeric_limits<double>::infinity(), sum = 0;
        for (int k = 0; k < a.keys; ++k) {
          if (n.causal != causal_alignment::off && k > position) continue;
          if (n.window.kind != setting::off && k < position - a.window) continue;
          if (n.key_lengths && k >= a.key_lengths[b]) continue;
          if (!m.allowed(b, h, q, k)) continue;
          double s = 0;
          for (int d = 0; d < n.head_dim; ++d) s += a.query({b, h, q, d}) * a.key({b, h / group, k, d});
          s *= a.scale;
          if (n.softcap.kind != setting::off) s = a.softcap * std::tanh(s / a.softcap);
          keys.push_back(k);
          weights.push_back(std::fmax(m.score(s, b, h, q, k), -6e29));
          if (std::isnan(s)) weights.back() = s;
          most = std::fmax(most, weights.back());
        }
        for (double &w : weights) sum += w = std::exp(w - most);
        r.lse({b, h, q}) = keys.empty() ? most : most + std::log(sum);
        for (std::size_t i = 0; i < keys.size(); ++i)
          for (int d = 0; d < n.value_dim; ++d) r.output({b, h, q, d}) += weights[i] / sum * a.value({b, h / group, keys[i], d});
      }
  return r;
}

on_opencl::on_opencl(const operator_description &o) : on_opencl(o, gpu_default(o, opencl())) {}
on_opencl::on_opencl(const operator_description &o, const schedule_point &p) : op(o), made(make_gpu_pipeline(o, opencl(), p)) {
  made.pipeline.compile_jit(Halide::Target(opencl().halide_target));
}

answer on_opencl::run(const arguments &a) {
  const numbers &n = op.n;
  const std::vector<int> order = a.sequence_first ? std::vector<int>{0, 2, 1, 3} : std::vector<int>{0, 1, 2, 3};
  std::vector<Halide::Buffer<>> read{stored(a.query, n.element, order), stored(a.key, n.element, order), stored(a.value, n.element, order)};
  for (std::size_t i = 0; i < op.inputs.size(); ++i) read.push_back(stored(a.inputs[i], op.inputs[i].element));
  if (n.key_lengths) {
    dense lengths({a.batches});
    for (int b = 0; b < a.batches; ++b) lengths.values[b] = a.key_lengths[b];
    read.push_back(stored(lengths, element_type::i32));
  }
  call_arguments &to = made.arguments;
  std::vector<Halide::ImageParam> tensors{to.query, to.key, to.value};
  tensors.insert(tensors.end(), to.inputs.begin(), to.inputs.end());
  if (n.key_lengths) tensors.push_back(to.key_lengths);
  for (std::size_t i = 0; i < read.size(); ++i) tensors[i].set(read[i]);
  to.scale.set(static_cast<float>(a.scale));
  to.softcap.set(static_cast<float>(a.softcap));
  to.window.set(a.window);

  dense unwritten({a.batches, n.heads, a.queries, n.value_dim}), unwritten_lse({a.batches, n.heads, a.queries});
  for (dense *d : {&unwritten, &unwritten_lse})
    for (double &v : d->values) v = 77;
  std::vector<Halide::Buffer<>> written{stored(unwritten, n.element, order)};
  if (n.returns_lse) written.push_back(stored(unwritten_lse, element_type::f32));
  const Halide::Target target(opencl().halide_target);
  if (n.returns_lse) made.pipeline.realize({written[0], written[1]}, target);
  else made.pipeline.realize(written[0], target);
  for (Halide::Buffer<> &w : written) w.copy_to_host();
  return {loaded(written[0], n.element), n.returns_lse ? loaded(written[1], element_type::f32) : dense()};
}

double distance(const dense &a, const dense &b) {
  if (a.extents != b.extents) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double x = a.values[i], y = b.values[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double d = std::abs(x - y);
    if (!(d <= most)) most = std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
  }
  return most;
}

double largest(const dense &d) {
  double most = 0;
  for (double v : d.values)
    if (std::isfinite(v)) most = std::fmax(most, std::abs(v));
  return most;
}

double bound(const operator_description &op, const arguments &a) {
  const double relative = op.n.element == element_type::f32 ? 2e-6 : op.n.element == element_type::f16 ? 0x1p-10 : 0x1p-7;
  return relative * largest(a.value);
}

} // namespace gpu_trial

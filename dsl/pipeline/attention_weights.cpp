#include "dsl/pipeline/attention_weights.hpp"
#include "dsl/pipeline/scores.hpp"
#include "dsl/pipeline/softmax.hpp"

namespace attune {
using namespace Halide;

attention_weights::attention_weights(const operator_description &op, const call_arguments &args, const attention_source &source, Func maximum, Func total)
    : features(0, op.n.head_dim, "weight_features") {
  const Expr key = min(k, max(key_count_of(op, args, b) - 1, 0));
  const Expr scaled = load_f32(source.query(features, q, h, b), op.n.element) * query_factor(op, args);
  dot(k, q, h, b) = 0.0f;
  dot(k, q, h, b) += scaled * load_f32(source.key(features, key, h / (op.n.heads / op.n.kv_heads), b), cache_element(op.n));
  const position_expr at{b, h, q, k};
  // This dot product may round otherwise than the one that made the maximum: never above it.
  const Expr below = min(base2_score(op, args, dot_of_key(op, args, dot(k, q, h, b), at), at) - maximum(q, h, b), 0.0f);
  const Expr weight = exp2_nonpositive(below) / total(q, h, b);
  const Expr keep = select(allowed(op, args, at), detail::u32(0xffffffff), detail::u32(0));
  result(k, q, h, b) = reinterpret<float>(reinterpret<std::uint32_t>(weight) & keep);
}

} // namespace attune

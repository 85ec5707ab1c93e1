// Chunks merged as they come: the sums so far are scaled down when a chunk raises the maximum, so that no more than one chunk's
// sum is kept, however many keys there are.
#include "dsl/pipeline/blocked_attention.hpp"
#include "dsl/pipeline/scores.hpp"
#include "dsl/pipeline/softmax.hpp"

namespace attune {
using namespace Halide;

void blocked_attention::define_running() {
  // Of a row: two factors, the maximum and the total, each in all lanes of a column, then the features of the value. One update
  // writes the columns in this order, so that a chunk's factors stand ready for all that they scale.
  enum { old_factor, new_factor, largest, sum_of_weights };
  static_assert(sum_of_weights + 1 == first_value_column);
  const chunk_limits chunks = limits_of_chunks();
  running_chunks = RDom(0, running_columns(), 0, chunks.count, "running_chunks");
  running_chunks.where(running_chunks.y >= chunks.first);
  running_chunks.where(running_chunks.y < chunks.last);

  const Expr sink = sink_score(op, args, h), total_of_sink = op.n.sinks ? keep_nan(sink, 1.0f) : Expr(0.0f);
  running(lane, column, q, t, h, b) = select(column == largest, sink, column == sum_of_weights, total_of_sink, 0.0f);
  const Expr at = running_chunks.x, chunk = running_chunks.y;
  const auto kept = [&](const Expr &which) { return running(lane, which, q, t, h, b); };
  const Expr maximum_of_chunk = chunk_maximum(q, chunk, t, h, b), raised = max(kept(largest), maximum_of_chunk);
  const auto scaled = [&](const Expr &old, const Expr &added) { return old * kept(old_factor) + added * kept(new_factor); };
  const Expr feature = max(at - first_value_column, 0) * cut.running_lanes + lane;
  running(lane, at, q, t, h, b) = select(at == old_factor, exp2_nonpositive(kept(largest) - raised),       //
                                         at == new_factor, exp2_nonpositive(maximum_of_chunk - raised),   //
                                         at == largest, raised,                                            //
                                         at == sum_of_weights, scaled(kept(sum_of_weights), chunk_total(q, chunk, t, h, b)),
                                         scaled(kept(at), sum(feature, q, chunk, t, h, b)));

  maximum(q, t, h, b) = running(0, largest, q, t, h, b);
  total(q, t, h, b) = running(0, sum_of_weights, q, t, h, b);
  merged(d, q, t, h, b) = running(d % cut.running_lanes, first_value_column + d / cut.running_lanes, q, t, h, b);
}

} // namespace attune

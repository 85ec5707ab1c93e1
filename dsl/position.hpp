// What a function sees of the place of a score: indices of the call's tensors (batch, head, kv_head, query, key), the position of the
// query among the keys that causal and windows are measured from, the numbers of queries and keys, and at(tag{}, indices...), which
// reads an input that the spec declares. The same text is read with doubles, with Halide expressions and on trial.
#pragma once

namespace attune::language {

template <class Index, class Read> struct place {
  Index batch, head, query, key, kv_head, position, query_count, key_count;
  Read read;
  template <class Tag, class... I> constexpr auto operator()(Tag tag, I... indices) const { return read(tag, indices...); }
};

} // namespace attune::language

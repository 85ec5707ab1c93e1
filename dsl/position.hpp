// What a user's function sees of the place of a score: at.batch, at.head, at.query, at.key, and at(tag{}, indices...),
// which reads an input that the spec declares. The same text is read with doubles, with Halide expressions and on trial.
#pragma once

namespace attune::language {

template <class Index, class Read> struct position {
  Index batch, head, query, key;
  Read read;
  template <class Tag, class... I> constexpr auto operator()(Tag tag, I... indices) const { return read(tag, indices...); }
};

} // namespace attune::language

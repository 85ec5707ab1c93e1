// What both lists of works begin a row with.
#pragma once
#include "bench/works.hpp"
#include "dsl/reference/refer.hpp"
#include <fmt/format.h>

namespace attune::bench {

/// A row with what follows from its spec and target filled in; the caller adds the rest.
template <class Spec> work row(const char *family, target_id target, const char *shape, int queries, int keys) {
  work w;
  w.info = artefact<Spec>::info;
  w.refer = refer<Spec>;
  w.target = target, w.queries = queries, w.keys = keys;
  w.name = fmt::format("{}/{}/{}/{}", family, name_of(artefact<Spec>::n.element), info_of(target).name, shape);
  return w;
}

} // namespace attune::bench

// The target that an example runs, as its command line names it.
#pragma once
#include "runtime/dispatch.hpp"
#include <optional>
#include <stdexcept>
#include <string>

namespace examples {

/// This machine lacks something that the work needs; the text says what. The examples exit with `unavailable_exit` then,
/// so that a test can tell "cannot run here" from "wrong".
struct unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline constexpr int unavailable_exit = 77;

/// The target to run: the one named, or, for an empty name, the one that a call takes by itself. Throws unavailable if this
/// machine cannot run it, std::runtime_error if there is no such target or the build has no code for it.
attune::target_id choose_target(const attune::artefact_info &, const std::string &name);

} // namespace examples

// Tunes one spec for one target: searches, compares the best at last, shows what came out and records it.
#pragma once
#include "generated/tool/catalogue.hpp"
#include "generated/tuning/process_measurer.hpp"

namespace attune {

struct tuning_order {
  const tool_spec &spec;
  const target_info &target;
  std::vector<tuned_calls> calls; ///< one for each bucket to tune
  int threads = 1;
  double seconds = 180;           ///< for all of it
  std::filesystem::path tables;   ///< the folder for the record
  std::filesystem::path log;
  std::string cpu;                ///< whose table the record goes into
  bool afresh = false;            ///< start from the default alone: neither from records nor from the log
  bool once = false;              ///< do nothing where the log says that all this was tuned to the end
};

/// The lengths that a bucket is tuned for unless others are asked for.
tuned_calls usual_calls(length_bucket);

enum class tuning_end { recorded, nothing_to_do, interrupted };
/// Shows progress on stderr and the outcome on stdout. After an interruption (generated/timing/interrupt.hpp) nothing is recorded, and the
/// log holds all that was tried.
tuning_end tune_spec(const tuning_order &);

} // namespace attune

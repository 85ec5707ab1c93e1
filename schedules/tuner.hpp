// The tuner: searches for all buckets of one spec and target at once, so that a point is compiled once and timed for each. How
// points are compiled and timed is the matter of a measurer; generated/tuning/ has the one that starts processes.
#pragma once
#include "schedules/tuning_log.hpp"

namespace attune {

/// Tries points. Several may be under way.
struct measurer {
  virtual ~measurer() = default;
  /// Whether another point may be given now.
  virtual bool has_room() const = 0;
  virtual void start(const schedule_point &) = 0;
  struct result {
    length_bucket bucket;
    trial t;
  };
  /// What has ended since the last call; waits a moment if nothing has. A point ends for all its buckets at once.
  virtual std::vector<result> results() = 0;
  virtual bool is_idle() const = 0;
};

struct bucket_search {
  tuning_key key;
  schedule_search search;
};

/// Tells the searches what the log knows of their keys. Returns how many trials that were.
int resume(std::vector<bucket_search> &, const tuning_log &);

/// Searches until `stop` says so or there is no further point; results are logged before anything is made of them.
/// `progress` is called after each.
void tune(std::vector<bucket_search> &, measurer &, tuning_log &, const std::function<bool()> &stop, const std::function<void(const measurer::result &)> &progress);

} // namespace attune

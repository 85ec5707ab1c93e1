#include "schedules/tuner.hpp"

namespace attune {
namespace {

/// The searches take turns. A point that one proposes is timed for all, so that the others need not propose it.
class turns {
public:
  explicit turns(std::vector<bucket_search> &searches) : searches_(searches) {}
  std::optional<schedule_point> next() {
    for (std::size_t tried = 0; tried < searches_.size(); ++tried) {
      const auto point = searches_[turn_++ % searches_.size()].search.next();
      if (!point) continue;
      for (bucket_search &s : searches_) s.search.leave_out(*point);
      return point;
    }
    return std::nullopt;
  }

private:
  std::vector<bucket_search> &searches_;
  std::size_t turn_ = 0;
};

} // namespace

int resume(std::vector<bucket_search> &searches, const tuning_log &log) {
  int known = 0;
  for (const log_entry &e : log.earlier())
    for (bucket_search &s : searches)
      if (!e.final && s.key == e.key) s.search.report(e.result), ++known;
  return known;
}

void tune(std::vector<bucket_search> &searches, measurer &m, tuning_log &log, const std::function<bool()> &stop,
          const std::function<void(const measurer::result &)> &progress) {
  turns points(searches);
  while (!stop()) {
    for (bool proposed = true; proposed && m.has_room();) {
      const auto point = points.next();
      proposed = point.has_value();
      if (point) m.start(*point);
    }
    if (m.is_idle()) return; // nothing under way, and nothing left to try
    for (const measurer::result &r : m.results())
      for (bucket_search &s : searches) {
        if (s.key.bucket != r.bucket) continue;
        log.append({s.key, r.t, false});
        s.search.report(r.t);
        progress(r);
      }
  }
}

} // namespace attune

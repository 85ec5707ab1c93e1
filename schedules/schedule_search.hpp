// The search for the fastest schedule of one spec, target and bucket of lengths: it proposes points and is told how they did.
// How points are compiled and timed is no matter of its own.
#pragma once
#include "schedules/family.hpp"
#include "schedules/samples.hpp"
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace attune {

/// What became of a point.
enum class trial_status {
  ok,           ///< its answers are right, and it was timed
  constraint,   ///< it breaks a rule of its family
  compile_fail, ///< it could not be compiled
  timeout,      ///< compiling or running it took too long, and was ended
  wrong,        ///< its answers differ from the reference
  crashed       ///< the process that ran it died
};
constexpr const char *name_of(trial_status s) {
  constexpr const char *names[] = {"ok", "constraint", "compile_fail", "timeout", "wrong", "crashed"};
  return names[static_cast<int>(s)];
}

struct trial {
  schedule_point point;
  trial_status status = trial_status::ok;
  std::string why{};              ///< one sentence, unless ok
  double ratio = 0;               ///< times as fast as the default schedule, called in the same rounds; 0 unless ok
  std::vector<double> seconds{};  ///< of one call, for each round; few where it was far from the best and dropped early
  double default_median = 0;      ///< seconds of the default schedule in these rounds
  double peak = 0;                ///< highest probe, GFLOP/s
};

/// The points that may be proposed.
struct search_space {
  struct family {
    std::string name;
    std::vector<schedule_parameter> parameters;
    schedule_point default_point;
  };
  std::vector<family> families;
  std::vector<schedule_point> starts; ///< proposed first, in this order; the first is the default that all are compared with
  std::function<std::string(const schedule_point &)> broken_rule; ///< empty: the point is legal
};
/// The families that carry the bucket; the description must outlive the space. Starts: the preferred family's default, `more`, the other families' defaults.
search_space space_of(const operator_description &, const target_info &, length_bucket, const std::vector<schedule_point> &more);

/// Moves from the best point so far: first changes of one parameter, near values first; then of two, those first whose values did
/// well in other points. Every eighth proposal is far away, so that the search can leave a hill.
class schedule_search {
public:
  explicit schedule_search(search_space, unsigned seed = 1);

  /// A legal point that was not proposed, reported or left out before; nothing if none is found.
  std::optional<schedule_point> next();
  /// This point is not to be proposed: it is tried at another place.
  void leave_out(const schedule_point &);
  void report(const trial &);

  /// The fastest point that is right; null before there is one.
  const trial *best() const { return trials_.empty() ? nullptr : &trials_.front(); }
  /// All points that are right, the fastest first.
  const std::vector<trial> &ranking() const { return trials_; }
  /// How many points were reported with this status.
  int count(trial_status) const;
  const search_space &space() const { return space_; }

private:
  bool is_new(const schedule_point &) const;
  double promise(const schedule_point &) const;
  std::optional<schedule_point> next_start();
  std::optional<schedule_point> next_move();
  std::optional<schedule_point> next_far();
  std::vector<schedule_point> moves(const schedule_point &from, int parameters) const;

  search_space space_;
  std::mt19937 random_;
  std::set<std::string> seen_;
  std::vector<trial> trials_;
  std::map<trial_status, int> counts_;
  std::size_t starts_tried_ = 0, proposals_ = 0;
};

} // namespace attune

#include "schedules/schedule_search.hpp"
#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace attune {
namespace {

void set(schedule_point &p, const std::string &name, int value) {
  for (auto &[key, old] : p.parameters)
    if (key == name) old = value;
}

/// The values of a parameter with how many steps each is from the one that the point has.
std::vector<std::pair<int, int>> steps_from(const schedule_parameter &parameter, int present) {
  const auto rank = [&](int value) { return static_cast<int>(std::count_if(parameter.values.begin(), parameter.values.end(), [&](int v) { return v < value; })); };
  std::vector<std::pair<int, int>> steps;
  for (const int value : parameter.values)
    if (value != present) steps.emplace_back(std::max(1, std::abs(rank(value) - rank(present))), value);
  std::sort(steps.begin(), steps.end());
  return steps;
}

const search_space::family &family_of(const search_space &space, const schedule_point &p) {
  return *std::find_if(space.families.begin(), space.families.end(), [&](const search_space::family &f) { return f.name == p.family; });
}

} // namespace

search_space space_of(const operator_description &op, const target_info &target, length_bucket bucket, const std::vector<schedule_point> &more) {
  search_space space;
  for (const schedule_family *f : schedule_families())
    if (f->why_not(op, target, bucket).empty()) space.families.push_back({f->name(), f->parameters(op, target), f->default_point(op, target)});
  for (const search_space::family &f : space.families) {
    space.starts.push_back(f.default_point);
    if (&f == &space.families.front()) space.starts.insert(space.starts.end(), more.begin(), more.end());
  }
  space.broken_rule = [&op, &target](const schedule_point &p) { return find_family(p.family).broken_rule(op, target, p); };
  return space;
}

schedule_search::schedule_search(search_space space, unsigned seed) : space_(std::move(space)), random_(seed) {}

bool schedule_search::is_new(const schedule_point &p) const { return !seen_.contains(p.text()) && space_.broken_rule(p).empty(); }

void schedule_search::leave_out(const schedule_point &p) { seen_.insert(p.text()); }

void schedule_search::report(const trial &t) {
  seen_.insert(t.point.text());
  ++counts_[t.status];
  if (t.status != trial_status::ok) return;
  const auto slower = [](const trial &a, const trial &b) { return a.ratio > b.ratio; };
  trials_.insert(std::upper_bound(trials_.begin(), trials_.end(), t, slower), t);
}

int schedule_search::count(trial_status s) const {
  const auto found = counts_.find(s);
  return found == counts_.end() ? 0 : found->second;
}

/// How well points with the same values did on average: a sum over parameters of the mean logarithm of the ratio, against
/// the mean of all; values that were never tried count as average.
double schedule_search::promise(const schedule_point &p) const {
  double all = 0;
  for (const trial &t : trials_) all += std::log(t.ratio);
  const double mean = trials_.empty() ? 0 : all / static_cast<double>(trials_.size());
  double sum = 0;
  for (const auto &[name, value] : p.parameters) {
    double gain = 0;
    int count = 0;
    for (const trial &t : trials_)
      if (t.point.family == p.family && t.point.at(name) == value) gain += std::log(t.ratio) - mean, ++count;
    sum += gain / (count + 1);
  }
  return sum;
}

std::optional<schedule_point> schedule_search::next() {
  auto point = next_start();
  if (!point && ++proposals_ % 8 == 0) point = next_far();
  if (!point) point = next_move();
  if (!point) point = next_far();
  if (point) seen_.insert(point->text());
  return point;
}

std::optional<schedule_point> schedule_search::next_start() {
  while (starts_tried_ < space_.starts.size()) {
    const schedule_point &start = space_.starts[starts_tried_++];
    if (is_new(start)) return start;
  }
  return std::nullopt;
}

/// Points that differ from `from` in one or two parameters, near ones first.
std::vector<schedule_point> schedule_search::moves(const schedule_point &from, int parameters) const {
  std::vector<std::pair<int, schedule_point>> found;
  const auto &all = family_of(space_, from).parameters;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const auto &[steps, value] : steps_from(all[i], from.at(all[i].name))) {
      schedule_point moved = from;
      set(moved, all[i].name, value);
      if (parameters == 1) found.emplace_back(steps, moved);
      for (std::size_t k = i + 1; parameters == 2 && k < all.size(); ++k)
        for (const auto &[more_steps, other] : steps_from(all[k], from.at(all[k].name))) {
          found.emplace_back(steps + more_steps, moved);
          set(found.back().second, all[k].name, other);
        }
    }
  std::stable_sort(found.begin(), found.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<schedule_point> points;
  for (auto &[steps, point] : found)
    if (is_new(point)) points.push_back(std::move(point));
  return points;
}

std::optional<schedule_point> schedule_search::next_move() {
  const schedule_point centre = best() ? best()->point : space_.starts.front();
  if (const auto near = moves(centre, 1); !near.empty()) return near.front();
  const auto pairs = moves(centre, 2);
  if (pairs.empty()) return std::nullopt;
  std::vector<double> promises;
  for (const schedule_point &p : pairs) promises.push_back(promise(p));
  return pairs[static_cast<std::size_t>(std::max_element(promises.begin(), promises.end()) - promises.begin())];
}

/// The most promising of a few random points.
std::optional<schedule_point> schedule_search::next_far() {
  constexpr int wanted = 8, tries = 4000;
  std::optional<schedule_point> best_point;
  double best_promise = 0;
  const auto any_of = [&](const auto &list) -> const auto & { return list[std::uniform_int_distribution<std::size_t>(0, list.size() - 1)(random_)]; };
  for (int t = 0, found = 0; t < tries && found < wanted; ++t) {
    const search_space::family &family = any_of(space_.families);
    schedule_point p = family.default_point;
    p.origin.clear();
    for (const schedule_parameter &parameter : family.parameters) set(p, parameter.name, any_of(parameter.values));
    if (!is_new(p)) continue;
    ++found;
    if (const double value = promise(p); !best_point || value > best_promise) best_point = p, best_promise = value;
  }
  return best_point;
}

} // namespace attune

#include "schedules/pinned_schedule.hpp"
#include "schedules/bucket_names.hpp"
#include "schedules/family.hpp"
#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

namespace attune {
namespace {

void set(schedule_point &point, const std::string &word, std::set<std::string> &given) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const auto parameter = std::find_if(point.parameters.begin(), point.parameters.end(), [&](const auto &p) { return p.first == name; });
  if (parameter == point.parameters.end()) {
    std::string known;
    for (const auto &p : point.parameters) known += (known.empty() ? "" : ", ") + p.first;
    throw std::invalid_argument("schedule family " + point.family + " has no parameter \"" + name + "\"; its parameters are " + known);
  }
  if (!given.insert(name).second) throw std::invalid_argument("\"" + word + "\": the schedule gives " + name + " twice; leave one of them");
  const char *first = word.data() + (equals == word.npos ? word.size() : equals + 1), *last = word.data() + word.size();
  const auto [end, error] = std::from_chars(first, last, parameter->second);
  if (first == last || end != last || error != std::errc()) throw std::invalid_argument("\"" + word + "\": expected " + name + "= and a whole number");
}
} // namespace

std::pair<length_bucket, schedule_point> pinned_schedule(const std::string &text, const operator_description &op, const target_info &target) {
  const std::size_t equals = text.find('=');
  std::istringstream words(equals == text.npos ? "" : text.substr(equals + 1));
  std::string family, word;
  if (!(words >> family)) throw std::invalid_argument("\"" + text + "\": expected a bucket, =, a schedule family and its parameters, as \"prefill_long=chunk query_tile=64\"");
  const length_bucket bucket = bucket_named(text.substr(0, equals));
  schedule_point point = find_family(family).default_point(op, target);
  std::set<std::string> given;
  while (words >> word) set(point, word, given);
  point.origin = "pinned";
  return {bucket, point};
}

} // namespace attune

// The log of a search: every point that was tried with its status, one line of JSON each, appended at once. A run that was
// stopped goes on from it; docs/tuning.md shows a line.
#pragma once
#include "schedules/schedule_search.hpp"
#include <filesystem>
#include <fstream>

namespace attune {

/// What points were tried for. Trials of equal keys can be compared; another generator makes other code.
struct tuning_key {
  std::string spec, hash, target, cpu;
  length_bucket bucket = length_bucket::prefill_long;
  int batch = 1, queries = 0, keys = 0, threads = 1;
  std::string generator; ///< digest of the library that generates code
  bool operator==(const tuning_key &) const = default;
};

struct log_entry {
  tuning_key key;
  trial result;
  bool final = false; ///< from the last comparison of the best, not from the search
};

std::string line_of(const log_entry &);
/// Throws std::exception for a line that is no entry.
log_entry entry_from(const std::string &line);

class tuning_log {
public:
  /// Reads what is there; a last line without an end, or lines that are no entries, are left out (`skipped`). The file and its
  /// folder are made if they are not there. Throws std::runtime_error if it cannot be written.
  explicit tuning_log(std::filesystem::path file);
  const std::vector<log_entry> &earlier() const { return earlier_; }
  int skipped() const { return skipped_; }
  /// Whether a search for this key came to its end.
  bool is_finished(const tuning_key &) const;
  const std::filesystem::path &file() const { return file_; }
  /// The line is in the file when this returns.
  void append(const log_entry &);

private:
  std::filesystem::path file_;
  std::vector<log_entry> earlier_;
  int skipped_ = 0;
  std::ofstream out_;
};

} // namespace attune

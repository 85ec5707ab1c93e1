// Tries schedules on this machine: compiles on all CPUs but those that time, checks and times in a process of
// its own, so that a kernel that is wrong, crashes or hangs is an answer like any other.
#pragma once
#include "generated/tuning/child_process.hpp"
#include "generated/tuning/trial_timing.hpp"
#include "schedules/tuner.hpp"
#include <deque>
#include <map>

namespace attune {

/// The calls that a bucket is tuned for.
struct tuned_calls {
  length_bucket bucket = length_bucket::prefill_long;
  int batch = 1, queries = 0, keys = 0;
};

/// A folder for temporary files, gone with its owner.
class temporary_folder {
public:
  temporary_folder(); ///< throws std::runtime_error if there can be none
  ~temporary_folder();
  temporary_folder(const temporary_folder &) = delete;
  std::filesystem::path operator/(const std::string &name) const { return path_ / name; }

private:
  std::filesystem::path path_;
};

class process_measurer final : public measurer {
public:
  /// The description and the reference must outlive it. Throws std::runtime_error where the machine has too few CPUs.
  process_measurer(const operator_description &, const reference_operator &, const target_info &, const std::vector<tuned_calls> &, int threads);
  process_measurer(const process_measurer &) = delete;

  /// Fills the tensors and compiles the default schedule of each bucket. Throws std::runtime_error if that fails.
  void prepare();

  bool has_room() const override;
  void start(const schedule_point &) override;
  std::vector<result> results() override;
  bool is_idle() const override { return refused_.empty() && compiling_.empty() && ready_.empty() && !timing_; }
  /// Points that are this many times as fast as the default are known: those far from it are dropped early.
  void set_best(length_bucket bucket, double ratio) { best_[bucket] = ratio; }

  /// Times points, the default first, against each other for `seconds`; compiles what is not compiled yet. Only points that are
  /// right come back. Throws std::runtime_error if the process that times them fails.
  std::vector<trial> race(length_bucket, const std::vector<schedule_point> &, double seconds);

private:
  struct job {
    schedule_point point;
    std::filesystem::path library;
    std::unique_ptr<child_process> process;
  };
  struct bucket_calls {
    tuned_calls lengths;
    schedule_point default_point;
    std::unique_ptr<timed_call> call;
  };
  job compile(const schedule_point &, const std::vector<int> &cores);
  void compile_all(const std::vector<schedule_point> &);
  void start_timing();
  std::vector<result> failed(const schedule_point &, const process_end &, bool compiling) const;
  std::vector<result> timed(const job &) const;
  std::vector<bucket_calls *> calls_of(const schedule_point &);
  void time_point(const job &, const std::filesystem::path &answers);
  void time_race(bucket_calls &, const std::vector<schedule_point> &, double seconds, const std::filesystem::path &answers);
  /// What is wrong with a kernel's answers in calls of a bucket; empty if nothing is.
  std::string wrong_answers(const trial_kernel &, const schedule_point &, length_bucket);
  std::string differs_from_default(bucket_calls &, const trial_kernel &default_kernel, const trial_kernel &);
  trial_kernel load(const schedule_point &) const;

  const operator_description &spec_;
  const reference_operator &reference_;
  const target_info &target_;
  int threads_;
  temporary_folder folder_; ///< outlives the processes below
  std::filesystem::path halide_runtime_;
  std::vector<int> timing_cores_, compiling_cores_;
  bool shares_cores_;
  std::shared_ptr<check_weights> weights_;
  std::vector<bucket_calls> calls_;
  std::map<std::string, std::filesystem::path> libraries_; ///< by a point's text
  std::map<length_bucket, double> best_;
  double highest_probe_ = 0, longest_timing_ = 0;
  std::vector<result> refused_; ///< points that no bucket can use
  std::vector<job> compiling_;
  std::deque<job> ready_;
  std::optional<job> timing_;
  std::chrono::steady_clock::time_point timing_since_;
  int count_ = 0;
};

} // namespace attune

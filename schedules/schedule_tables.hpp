// Tables of tuned schedules: what the tuner found fastest, one file for each target and CPU, and how a record is looked up.
//
// A folder of tables holds <target>/<cpu>.json. The shipped folder is schedules/tables of the sources; a folder of the user's
// (ATTUNE_TABLES) comes before it. docs/tuning.md shows a record.
#pragma once
#include "dsl/call_lengths.hpp"
#include "dsl/pipeline/operator_description.hpp"
#include "dsl/targets.hpp"
#include "schedules/schedule_point.hpp"
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace attune {

/// What two specs must have in common for a schedule of one to be a good guess for the other.
struct spec_shape {
  std::string element;
  int head_dim = 0, value_dim = 0;
  bool trimmed = false; ///< loops over keys are cut to a causal mask or a window
  bool grouped = false; ///< several query heads share a key and value head
  bool mapped = false;  ///< other masks than causal, window and lengths: tiles are classified by a map
  bool operator==(const spec_shape &) const = default;
};
spec_shape shape_of(const operator_description &);

/// The fastest schedule found for one spec and bucket, and how that was measured. Seconds are of one call.
struct table_record {
  std::string spec, hash; ///< name of the spec struct; of its canonical text
  length_bucket bucket = length_bucket::prefill_long;
  spec_shape shape;
  int batch = 1, queries = 0, keys = 0; ///< of the calls that were timed
  int threads = 1;
  schedule_point schedule;
  double median = 0, mad = 0; ///< of `samples` calls; MAD: median absolute deviation from the median
  int samples = 0;
  double default_median = 0; ///< of the default schedule, in the same rounds
  double peak = 0;           ///< highest probe of the run, GFLOP/s: f32 multiply-adds, or bf16 dot products for bf16 where the target has them
  std::string attune_version, halide_version, llvm_version, date; ///< date: YYYY-MM-DD
  /// How many times faster than the default.
  double ratio() const { return median > 0 ? default_median / median : 0; }
};

struct schedule_table {
  static constexpr int schema = 1;
  std::string target, cpu;
  std::vector<table_record> records; ///< one for each hash and bucket
  /// Puts a record in the place of the one for the same hash and bucket, or adds it.
  void put(table_record);
};

std::filesystem::path table_path(const std::filesystem::path &folder, const std::string &target, const std::string &cpu);
/// The table as text, records in the order of spec and bucket. `table_from` reads it back; it throws std::runtime_error, which
/// names `where`, for anything else.
std::string text_of(const schedule_table &);
schedule_table table_from(const std::string &text, const std::string &where);
/// Nothing if there is no such file.
std::optional<schedule_table> read_table(const std::filesystem::path &file);

/// Why a point cannot be used for calls of the bucket, in one sentence; empty if it can: a family that there is, which carries the
/// spec, with the parameters that it has, and none of its rules broken.
std::string why_unusable(const operator_description &, const target_info &, length_bucket, const schedule_point &);

/// Where records are looked up: the folders one after the other; in each, the file of `cpu` before those of its maker's other CPUs.
struct table_places {
  std::vector<std::filesystem::path> folders;
  std::string cpu; ///< as attune::cpu_name (runtime/cpu_name.hpp) writes it; empty: not known, and the files of all CPUs are looked at
};
/// ATTUNE_TABLES (if set) and the shipped folder; ATTUNE_CPU, or else `own_cpu`.
table_places places_from_environment(const std::string &own_cpu);
/// The CPUs that the folders have tables of, for whatever target.
std::set<std::string> cpus_with_tables(const std::vector<std::filesystem::path> &folders);
/// What choose_schedule looks at, for the whole process; places_from_environment("") until it is set.
const table_places &tables_in_use();
void use_tables(table_places);

/// The recorded schedule for calls of the bucket. Within a file, a record of the spec itself comes before records of similar
/// specs, of which the schedule with the best average ratio is taken. Among files of the maker's other CPUs the best ratio decides.
/// Files of other makers' CPUs are not looked at.
/// A record that cannot be used any more, or a file that cannot be read, is passed over; `say` is told why.
std::optional<schedule_point> look_up(const table_places &, const operator_description &, const target_info &, length_bucket,
                                      const std::function<void(const std::string &)> &say);
/// The same in the tables in use; what is passed over is said once, on stderr.
std::optional<schedule_point> look_up(const operator_description &, const target_info &, length_bucket);

/// Why look_up finds nothing in the tables in use.
std::string why_no_record(const operator_description &, const target_info &, length_bucket);

} // namespace attune

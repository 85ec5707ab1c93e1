// Which tables of tuned schedules a command looks at, as options of its command line.
#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

namespace attune {

struct table_options {
  std::filesystem::path tables; ///< looked at before ATTUNE_TABLES and the shipped tables; empty: none
  std::string cpu;              ///< empty: ATTUNE_CPU, or this machine's

  void add_to(CLI::App &);
  /// Throws std::runtime_error if `tables` is given and is not there.
  void require_tables() const;
  /// Sets the tables of the process (schedules/schedule_tables.hpp). Throws std::runtime_error if ATTUNE_TABLES names no folder, or if
  /// --cpu or ATTUNE_CPU names a CPU without a table that is not this machine's.
  void use() const;
  /// The same for a command that makes a table: of a CPU without one it is only said that it is new.
  void use_to_record() const;

private:
  /// What is wrong with the name of the CPU; empty if nothing is.
  std::string set_places() const;
};

} // namespace attune

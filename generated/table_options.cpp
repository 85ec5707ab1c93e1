#include "generated/table_options.hpp"
#include "runtime/cpu_name.hpp"
#include "schedules/schedule_tables.hpp"
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdexcept>

namespace attune {

void table_options::add_to(CLI::App &app) {
  app.add_option("--tables", tables, "folder of tables to look at before ATTUNE_TABLES and the shipped ones");
  app.add_option("--cpu", cpu, "CPU whose table comes first; ATTUNE_CPU, or else this machine's, if not given");
}

void table_options::require_tables() const {
  if (!tables.empty() && !std::filesystem::is_directory(tables))
    throw std::runtime_error("--tables " + tables.string() + ": there is no such folder. The subcommand tune makes one.");
}

std::string table_options::set_places() const {
  if (const char *folder = std::getenv("ATTUNE_TABLES"); folder && *folder && !std::filesystem::is_directory(folder))
    throw std::runtime_error(std::string("the environment variable ATTUNE_TABLES says ") + folder + ", and there is no such folder. Set it to a folder of tables, or unset it.");
  table_places places = places_from_environment(cpu_name());
  if (!tables.empty()) places.folders.insert(places.folders.begin(), tables);
  if (!cpu.empty()) places.cpu = cpu;
  use_tables(places);
  const std::set<std::string> known = cpus_with_tables(places.folders);
  if (places.cpu == cpu_name() || known.count(places.cpu) > 0) return "";
  return fmt::format("{} says \"{}\", and there is no table of such a CPU; there are tables of {}, and this machine is {}", cpu.empty() ? "ATTUNE_CPU" : "--cpu", places.cpu,
                     fmt::join(known, ", "), cpu_name());
}

void table_options::use() const {
  if (const std::string mistake = set_places(); !mistake.empty()) throw std::runtime_error(mistake);
}

void table_options::use_to_record() const {
  const std::string mistake = set_places();
  const std::string &name = tables_in_use().cpu;
  const bool is_name = std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '-' || c == '_'; });
  if (!is_name)
    throw std::runtime_error(fmt::format("{} says \"{}\": a CPU's name, which is that of its table's file, is of a-z, 0-9, - and _; this machine is {}",
                                         cpu.empty() ? "ATTUNE_CPU" : "--cpu", name, cpu_name()));
  if (!mistake.empty()) fmt::print(stderr, "attune: {}; a new table is made\n", mistake);
}

} // namespace attune
